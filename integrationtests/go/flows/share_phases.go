// SPDX-License-Identifier: Apache-2.0

package main

// shareDriver is one whose volumes are shares.
type shareDriver interface {
	driver
	// afterLast returns the check of what must be when no volume of the share is staged any more.
	afterLast(s *shareScene) func() error
	// deadEnd tells why the driver itself cannot go on from an error.
	deadEnd(err error) string
	// severalOnShare tells whether volumes are directories of one share, and not a share each.
	severalOnShare() bool
}

// sharePhases are the phases of a driver of shares, in the order of two pods' lives. Each begins with a node
// that has what the phase needs, and nothing else.
func (r *runner) sharePhases() []phase {
	s, d := r.shares, r.driver.(shareDriver)
	v := &s.volume
	stage := func() error { return r.driver.stage(*v) }
	publish := func() error { return r.driver.publish(*v) }
	unpublish := func() error { return r.driver.unpublish(*v) }
	unstage := func() error { return r.driver.unstage(*v) }
	staged := steps{s.fresh, r.wholly(stage)}
	inUse := staged.and(s.makeTarget, r.wholly(publish))
	phases := []phase{
		{name: "stage", before: s.fresh, do: stage, after: s.stagedTo(v)},
		{name: "publish", before: staged.and(s.makeTarget).run, do: publish, after: s.published},
		{name: "unpublish", before: inUse.run, do: unpublish,
			after: func() error { return then(gone(normalized(v.target)), s.stagedTo(v)) }},
	}
	if d.severalOnShare() {
		phases = append(phases, r.secondPhases(staged, inUse)...)
	}
	return append(phases, phase{name: "unstage", before: staged.run, do: unstage,
		after:   func() error { return then(gone(`C:`+v.staging), d.afterLast(s)) },
		deadEnd: d.deadEnd, byHand: s.byHand(v, true)})
}

// secondPhases are those of a second volume on the share, while a pod uses the first; before it is staged once
// more, the secret is rotated.
func (r *runner) secondPhases(staged, inUse steps) []phase {
	s, d := r.shares, r.driver.(shareDriver)
	second := &s.second
	stage := func() error { return r.driver.stage(*second) }
	unstage := func() error { return r.driver.unstage(*second) }
	bothStaged := func() error { return then(s.stagedTo(second)(), s.published) }
	return []phase{
		{name: "stage 2nd", before: inUse.run, do: stage, after: bothStaged},
		{name: "rotate", before: inUse.and(s.rotate).run, do: stage, after: bothStaged},
		{name: "unstage 2nd", before: inUse.and(r.wholly(stage)).run, do: unstage,
			after:   func() error { return then(gone(`C:`+second.staging), s.published) },
			deadEnd: d.deadEnd, byHand: s.byHand(second, false)},
	}
}

// steps are made one after another.
type steps []func() error

func (s steps) and(more ...func() error) steps { return append(s[:len(s):len(s)], more...) }
func (s steps) run() error                     { return then(nil, s...) }
