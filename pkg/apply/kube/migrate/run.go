package migrate

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/migrate"
)

// Migration is one that is under way.
type Migration struct {
	client *Client
	Record migrate.Record
	// To is the workload that replicas move to.
	To       migrate.Workload
	from, to schema.GroupVersionResource
	around   *Around
	// Emit is told of every decision that differs from the one before.
	Emit func(migrate.Decision)
}

// Begin puts a migration on record. One that is there already goes on; the way back
// takes the place of the way there.
func (c *Client) Begin(ctx context.Context, r migrate.Record, to migrate.Workload, a *Around) (*Migration, error) {
	m := &Migration{client: c, Record: r, To: to, around: a}
	var err error
	if m.from, err = c.Version(migrate.Of(r.From.Group, r.From.Kind)); err != nil {
		return nil, err
	}
	if m.to, err = c.Version(migrate.Of(to.Group, to.Kind)); err != nil {
		return nil, err
	}
	if err := c.note(ctx, m.to, to.Name, r.Encode()); err != nil {
		return nil, err
	}
	if err := c.note(ctx, m.from, r.From.Name, nil); err != nil {
		return nil, err
	}
	for _, s := range a.Scalers {
		if err := c.hold(ctx, s); err != nil {
			return nil, fmt.Errorf("%s: %w", s, err)
		}
	}
	return m, c.precede(ctx, a.Followers, m.to, to)
}

// HaltError says that a migration cannot go on by itself.
type HaltError struct{ Reason string }

func (e *HaltError) Error() string { return e.Reason }

// Run moves replicas until all have moved. Whenever it ends before, Begin and Run go
// on from there.
func (m *Migration) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w, err := m.watch(ctx)
	if err != nil {
		return err
	}
	var last migrate.Decision
	for {
		d, err := m.step(ctx, w)
		switch {
		case err != nil:
			return err
		case d == nil:
		case d.Verb == migrate.Halt:
			return &HaltError{d.Why}
		case *d != last:
			m.Emit(*d)
			last = *d
		}
		if d != nil && d.Verb == migrate.Done {
			return m.finish(ctx)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-w.faults:
			return err
		case <-w.bell:
		}
	}
}

// step decides and writes; nil where a side is not there, or changed meanwhile: the
// watch rings again.
func (m *Migration) step(ctx context.Context, w *watched) (*migrate.Decision, error) {
	source, destination := w.object(m.from, m.Record.From.Name), w.object(m.to, m.To.Name)
	if source == nil || destination == nil {
		return nil, m.missing(ctx)
	}
	if w.uncounted.Load() > 0 {
		return nil, nil //nolint:nilnil // it rings when the budgets are known
	}
	if name := w.scaledByKEDA(m.Record.From, m.To); name != "" {
		return &migrate.Decision{Verb: migrate.Wait, Reserve: -1, Why: "KEDA has not taken " + name + " away yet"}, nil
	}
	d := migrate.Next(m.Record, SideOf(source), SideOf(destination), w.budgets(m.Record.From, Labels(source)))
	var err error
	switch d.Verb {
	case migrate.Grow:
		err = m.scale(ctx, m.to, destination, d)
	case migrate.Shrink:
		err = m.scale(ctx, m.from, source, d)
	}
	if apierrors.IsConflict(err) {
		return nil, nil //nolint:nilnil // the watch brings what changed
	}
	return &d, err
}

// missing tells a side that was deleted from one that the watch has not brought yet.
func (m *Migration) missing(ctx context.Context) error {
	for _, w := range []migrate.Workload{m.Record.From, m.To} {
		u, err := m.client.Get(ctx, migrate.Of(w.Group, w.Kind), w.Name)
		if err != nil {
			return err
		}
		if u == nil {
			return &HaltError{w.String() + " was deleted"}
		}
	}
	return nil
}

// scale writes replicas, and whose the ordinals are.
func (m *Migration) scale(ctx context.Context, gvr schema.GroupVersionResource, u *unstructured.Unstructured, d migrate.Decision) error {
	spec := map[string]any{"replicas": d.Replicas}
	if d.Reserve >= 0 {
		reserved := make([]int32, d.Reserve)
		for i := range reserved {
			reserved[i] = m.Record.First + int32(i)
		}
		spec["reserveOrdinals"] = reserved
	}
	err := m.client.merge(ctx, gvr, u, map[string]any{"spec": spec})
	if err != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("cannot scale %s to %d: %w", WorkloadOf(u), d.Replicas, err)
	}
	return err
}

// finish has scalers follow, and what names the source where all have moved; then it
// takes the record away.
func (m *Migration) finish(ctx context.Context) error {
	for _, s := range m.around.Scalers {
		if err := m.client.point(ctx, s, m.to, m.To); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	if m.Record.Replicas == m.Record.Source {
		if err := m.client.follow(ctx, m.around.Followers, m.to, m.To); err != nil {
			return err
		}
	}
	if err := m.client.note(ctx, m.to, m.To.Name, nil); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
