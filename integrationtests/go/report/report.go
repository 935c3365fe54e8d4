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

// Report counts results. Part, Column and Row say what is being tested now. The zero value is ready.
type Report struct {
	Part, Column, Row string

	parts  []string
	tables map[string]*table[tally]
	total  tally
}

func (r *Report) record(result, name, detail string) {
	here, at := r.here(), cell{r.Column, r.Row}
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
	here.put(at, counted)
	if detail != "" {
		detail = ": " + detail
	}
	fmt.Printf("%s %s %s %s: %s%s\n", result, r.Part, r.Column, r.Row, name, detail)
}

func (r *Report) here() *table[tally] {
	if r.tables == nil {
		r.tables = map[string]*table[tally]{}
	}
	if r.tables[r.Part] == nil {
		r.parts = append(r.parts, r.Part)
		r.tables[r.Part] = &table[tally]{cells: map[cell]tally{}}
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

// PrintTotals prints the sums and returns whether all is well: something passed and nothing failed.
func (r *Report) PrintTotals() bool {
	fmt.Printf("%d passed, %d failed, %d skipped\n", r.total.passed, r.total.failed, r.total.skipped)
	return r.total.failed == 0 && r.total.passed > 0
}
