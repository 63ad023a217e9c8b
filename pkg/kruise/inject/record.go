package inject

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/tree"
)

// recall reads what an earlier injection left in the pod.
func (in *injection) recall() error {
	for _, key := range []string{kruise.SidecarSetHashAnnotation, kruise.SidecarSetHashWithoutImageAnnotation} {
		if _, err := readEntries(tree.StrAt(in.annotations, key)); err != nil {
			return fmt.Errorf("annotation %s: %w", key, err)
		}
	}
	in.carried, in.ours = map[string]bool{}, map[string]bool{}
	for _, name := range splitList(tree.StrAt(in.annotations, kruise.SidecarSetInjectedListAnnotation)) {
		in.carried[name] = true
	}
	for _, set := range in.sets {
		if !in.carried[set.Set] {
			continue
		}
		for _, s := range set.all() {
			for _, v := range s.variants {
				in.ours[v.name] = true
			}
		}
	}
	return nil
}

func splitList(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// record writes the list of injected sets and the annotations of hot-upgrade
// pairs. The hash annotations hold the time and are not written.
func (in *injection) record() error {
	names := splitList(tree.StrAt(in.annotations, kruise.SidecarSetInjectedListAnnotation))
	for _, set := range in.sets {
		names = append(names, set.Set)
	}
	slices.Sort(names)
	in.annotate(kruise.SidecarSetInjectedListAnnotation, strings.Join(slices.Compact(names), ","))
	return in.recordHot()
}

func (in *injection) recordHot() error {
	var hot []*sidecar
	for _, set := range in.sets {
		for _, s := range set.all() {
			if s.hot() {
				hot = append(hot, s)
			}
		}
	}
	if len(hot) == 0 {
		return nil
	}
	working := map[string]string{}
	if text := tree.StrAt(in.annotations, kruise.SidecarSetWorkingHotUpgradeAnnotation); text != "" {
		if err := json.Unmarshal([]byte(text), &working); err != nil || working == nil {
			return fmt.Errorf("annotation %s is not a JSON object of texts", kruise.SidecarSetWorkingHotUpgradeAnnotation)
		}
	}
	for _, s := range hot {
		in.annotateHot(s, working)
	}
	text, err := json.Marshal(working)
	if err != nil {
		return err
	}
	in.annotate(kruise.SidecarSetWorkingHotUpgradeAnnotation, string(text))
	return nil
}
