package tui

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/tui/world"
)

// unruly is the shop, which fails and is lost now and then, and never waits.
type unruly struct{ *chaos }

func (u unruly) Await(ctx context.Context, _ int64, want world.Want) (*world.World, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	w, err := u.shop.Await(context.Background(), 0, want)
	if err != nil {
		return nil, err
	}
	switch u.IntN(8) {
	case 0:
		w.Link.Lost, w.At = "connection refused", w.Now.Add(-time.Hour)
	case 1:
		w.Detail = nil
	case 2:
		w.Workloads = w.Workloads[:u.IntN(len(w.Workloads))]
	case 3:
		w.Running = []cluster.Ref{w.Workloads[0].Ref}
	case 4:
		w.Where.Production = true
	case 5:
		w.Loaded, w.Detail, w.Workloads = false, nil, nil
	}
	return w, nil
}

func (u unruly) text(what string) (string, error) {
	if u.IntN(3) == 0 {
		return "", errors.New("it is forbidden\nin two lines")
	}
	return "kind: " + what + "\nspec:\n  text: " + strings.Repeat("日本 ", u.IntN(100)) + "\n", nil
}

func (u unruly) Manifest(context.Context, cluster.Ref) (string, error) { return u.text("yaml") }

func (u unruly) Describe(context.Context, cluster.Ref) (string, error) { return u.text("words") }

func (u unruly) Move(ctx context.Context, namespace string) error {
	if _, err := u.text(""); err != nil {
		return err
	}
	return u.shop.Move(ctx, namespace)
}

func (u unruly) Logs(context.Context, world.LogQuery) (world.Log, error) {
	if _, err := u.text(""); err != nil {
		return nil, err
	}
	return u, nil
}

func (u unruly) Next() ([]string, error) {
	if u.IntN(5) == 0 {
		return nil, io.EOF
	}
	return []string{"a line", strings.Repeat("x\t\x1b[2J ", u.IntN(60))}, nil
}

func (u unruly) Effect(ctx context.Context, a world.Act) (world.Effect, error) {
	return u.shop.Effect(ctx, a)
}

func (u unruly) Do(ctx context.Context, a world.Act) (string, error) {
	u.done = append(u.done, a)
	return u.shop.Do(ctx, a)
}

func (u unruly) Shell(namespace, pod, container string) (world.Program, error) {
	return u.shop.Shell(namespace, pod, container)
}
