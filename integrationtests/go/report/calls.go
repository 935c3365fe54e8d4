// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"sync"
)

// exchange counts what became of the calls of one RPC.
type exchange struct {
	published         bool
	answered, refused int
}

func (e exchange) String() string {
	if !e.published {
		return "-"
	}
	return fmt.Sprintf("%d / %d", e.answered, e.refused)
}

// Calls counts for each RPC of each version how often it was called with good input and answered, and how
// often it was called with bad input and refused. The zero value is ready. Counting may go on in several
// goroutines at once.
type Calls struct {
	mutex  sync.Mutex
	groups []string
	tables map[string]*table[exchange]
}

func (c *Calls) change(group, version, rpc string, how func(*exchange)) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.tables == nil {
		c.tables = map[string]*table[exchange]{}
	}
	if c.tables[group] == nil {
		c.groups = append(c.groups, group)
		c.tables[group] = &table[exchange]{cells: map[cell]exchange{}}
	}
	t, at := c.tables[group], cell{version, rpc}
	counted := t.cells[at]
	how(&counted)
	t.put(at, counted)
}

// Publish says that a version has an RPC.
func (c *Calls) Publish(group, version, rpc string) {
	c.change(group, version, rpc, func(e *exchange) { e.published = true })
}

// Answered counts a call with good input.
func (c *Calls) Answered(group, version, rpc string) {
	c.change(group, version, rpc, func(e *exchange) { e.answered++ })
}

// Refused counts a call with bad input.
func (c *Calls) Refused(group, version, rpc string) {
	c.change(group, version, rpc, func(e *exchange) { e.refused++ })
}

// Complete returns how many of the published RPCs were called both ways, how many there are, and the rest.
func (c *Calls) Complete() (both, all int, rest []string) {
	for _, group := range c.groups {
		t := c.tables[group]
		for _, column := range t.columns {
			for _, row := range t.rows {
				counted := t.cells[cell{column, row}]
				switch {
				case !counted.published:
					continue
				case counted.answered > 0 && counted.refused > 0:
					both++
				default:
					rest = append(rest, fmt.Sprintf("%s %s %s (%v)", group, column, row, counted))
				}
				all++
			}
		}
	}
	return both, all, rest
}

// PrintTables prints what was counted, a table for each group.
func (c *Calls) PrintTables() {
	fmt.Println("\nCalls by version, with good input and answered / with bad input and refused:")
	for _, group := range c.groups {
		c.tables[group].print(group)
	}
}
