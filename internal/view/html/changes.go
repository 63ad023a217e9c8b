package html

import (
	"fmt"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/compare"
)

// diffView is a difference as the template reads it.
type diffView struct {
	view.ChangesPage
	Tone  string
	Items []diffItem
}

// diffItem is one object that changes, with an identifier of its own.
type diffItem struct {
	view.ChangeItem
	ID, Tone string
	// Effect is what follows, in a line: of pods first, then of the worst effect.
	Effect string
}

// levelTones say how much attention a level asks for.
var levelTones = map[compare.Level]string{
	compare.Loss: "bad", compare.Refused: "bad", compare.Recreate: "warn", compare.Blocked: "warn", compare.Warning: "warn", compare.Restart: "good", compare.Note: "calm",
}

func newDiffView(p view.ChangesPage) *diffView {
	out := &diffView{ChangesPage: p, Tone: "calm"}
	if len(p.Levels) > 0 {
		out.Tone = levelTones[p.Levels[0].Level]
	}
	for i, item := range p.Items {
		out.Items = append(out.Items, diffItem{ChangeItem: item, ID: fmt.Sprintf("change-%d", i+1), Tone: levelTones[item.Level], Effect: effectOf(item)})
	}
	return out
}

func effectOf(item view.ChangeItem) string {
	for _, text := range []string{item.Pods, item.Reach, item.Copies} {
		if text != "" {
			return text
		}
	}
	switch {
	case len(item.Subsets) == 1:
		return "subset " + item.Subsets[0].Text
	case len(item.Subsets) > 1:
		return counted.Of(len(item.Subsets), "subset") + ": " + item.Subsets[0].Text + ", …"
	case len(item.Effects) > 0:
		return item.Effects[0].Text
	}
	return "no effect on running pods"
}
