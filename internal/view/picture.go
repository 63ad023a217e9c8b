package view

import (
	"fmt"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view/svg"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/rules"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/simulate"
)

// Picture is how a plan's simulated run is drawn.
func Picture(p plan.Plan, t simulate.Timeline) svg.Picture { return NewPlanPage(p, &t).Picture() }

var pictureWords = map[rules.UpdateMode]string{
	rules.ModeInPlace: "updated in place", rules.ModeMetadataOnly: "get new metadata", rules.ModeRecreate: "recreated",
	rules.ModeUnchanged: "unchanged", rules.ModeNotAllowed: "not allowed to change",
}

// imagesText names the image that changes, if it is the only one.
func imagesText(list []rules.FieldChange) string {
	text := ""
	for _, f := range list {
		if f.Effect != rules.EffectImage {
			continue
		}
		if text != "" {
			return ", several images"
		}
		text = fmt.Sprintf(", %s to %s", shortImage(f.Old), shortImage(f.New))
	}
	return text
}

// shortImage leaves the registry and its folders out.
func shortImage(v any) string {
	text := fmt.Sprint(v)
	return text[strings.LastIndexByte(text, '/')+1:]
}
