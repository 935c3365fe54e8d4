// SPDX-License-Identifier: Apache-2.0

// Package report counts the results of tests and prints them: a line each, a table for each part, totals.
package report

import "fmt"

type tally struct{ passed, failed, skipped int }

func (t tally) String() string {
	switch {
	case t == tally{}:
		return "-"
	case t.failed > 0:
		return fmt.Sprintf("FAIL %d/%d", t.failed, t.passed+t.failed)
	case t.skipped > 0:
		return fmt.Sprintf("PASS %d (skip %d)", t.passed, t.skipped)
	}
	return fmt.Sprintf("PASS %d", t.passed)
}

type cell struct{ column, row string }

// table is one part of the tests; rows and columns are in the order of their first appearance.
type table struct {
	columns, rows []string
	cells         map[cell]tally
}

// Report counts results. Part, Column and Row say what is being tested now. The zero value is ready.
type Report struct {
	Part, Column, Row string

	parts  []string
	tables map[string]*table
	total  tally
}

func (r *Report) record(result, name, detail string) {
	here := r.here()
	here.columns = appendNew(here.columns, r.Column)
	here.rows = appendNew(here.rows, r.Row)
	at := cell{r.Column, r.Row}
	counted := here.cells[at]
	for _, t := range []*tally{&counted, &r.total} {
		switch result {
		case "PASS":
			t.passed++
		case "FAIL":
			t.failed++
		case "SKIP":
			t.skipped++
		}
	}
	here.cells[at] = counted
	if detail != "" {
		detail = ": " + detail
	}
	fmt.Printf("%s %s %s %s: %s%s\n", result, r.Part, r.Column, r.Row, name, detail)
}

func (r *Report) here() *table {
	if r.tables == nil {
		r.tables = map[string]*table{}
	}
	if r.tables[r.Part] == nil {
		r.parts = append(r.parts, r.Part)
		r.tables[r.Part] = &table{cells: map[cell]tally{}}
	}
	return r.tables[r.Part]
}

// Check counts a test that passed, or failed with err.
func (r *Report) Check(name string, err error) {
	if err != nil {
		r.record("FAIL", name, err.Error())
		return
	}
	r.record("PASS", name, "")
}

// Skip counts a test that could not be made.
func (r *Report) Skip(name, reason string) { r.record("SKIP", name, reason) }

// PrintTables prints what was counted, a table for each part.
func (r *Report) PrintTables() {
	for _, part := range r.parts {
		r.tables[part].print(part)
	}
	fmt.Println()
}

func (t *table) print(part string) {
	const least = 12
	first := width(least, append(t.rows, part))
	fmt.Printf("\n%-*s", first, part)
	for _, column := range t.columns {
		fmt.Printf("  %-*s", t.columnWidth(column, least), column)
	}
	for _, row := range t.rows {
		fmt.Printf("\n%-*s", first, row)
		for _, column := range t.columns {
			fmt.Printf("  %-*s", t.columnWidth(column, least), t.cells[cell{column, row}])
		}
	}
	fmt.Println()
}

func (t *table) columnWidth(column string, least int) int {
	texts := []string{column}
	for _, row := range t.rows {
		texts = append(texts, t.cells[cell{column, row}].String())
	}
	return width(least, texts)
}

func width(least int, texts []string) int {
	for _, text := range texts {
		if len(text) > least {
			least = len(text)
		}
	}
	return least
}

// PrintTotals prints the sums and returns whether all is well: something passed and nothing failed.
func (r *Report) PrintTotals() bool {
	fmt.Printf("%d passed, %d failed, %d skipped\n", r.total.passed, r.total.failed, r.total.skipped)
	return r.total.failed == 0 && r.total.passed > 0
}

func appendNew(list []string, item string) []string {
	for _, have := range list {
		if have == item {
			return list
		}
	}
	return append(list, item)
}
