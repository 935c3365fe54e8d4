// SPDX-License-Identifier: Apache-2.0

package report

import "fmt"

type cell struct{ column, row string }

// table is one part of a report; rows and columns are in the order of their first appearance.
type table[T fmt.Stringer] struct {
	columns, rows []string
	cells         map[cell]T
}

func (t *table[T]) put(at cell, value T) {
	t.columns = appendNew(t.columns, at.column)
	t.rows = appendNew(t.rows, at.row)
	t.cells[at] = value
}

func (t *table[T]) print(title string) {
	const least = 12
	first := width(least, append(t.rows[:len(t.rows):len(t.rows)], title))
	fmt.Printf("\n%-*s", first, title)
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

func (t *table[T]) columnWidth(column string, least int) int {
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

func appendNew(list []string, item string) []string {
	for _, have := range list {
		if have == item {
			return list
		}
	}
	return append(list, item)
}
