package migrate

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/command"
	"github.com/kubectl-kruise/kubectl-kruise/internal/cli/factory"
)

// parsed is the verb after it has read its command line.
func parsed(t *testing.T, line string) (*options, error) {
	t.Helper()
	f := factory.New(factory.Streams{})
	o := &options{factory: f}
	c := newCommand(o)
	c.Flags().StringVarP(f.Flags.Namespace, "namespace", "n", "", "")
	if err := c.ParseFlags(strings.Fields(line)); err != nil {
		t.Fatal(err)
	}
	return o, o.complete(c.Flags().Args())
}

func TestComplete(t *testing.T) {
	for line, want := range map[string]struct {
		from, to, source, destination string
		older                         bool
	}{
		"deployment/web --to CloneSet":                                            {"Deployment", "CloneSet", "web", "web", false},
		"daemonset.apps/agent --to AdvancedDaemonSet":                             {"DaemonSet", "AdvancedDaemonSet", "agent", "agent", false},
		"ads/agent --to ds":                                                       {"AdvancedDaemonSet", "DaemonSet", "agent", "agent", false},
		"clone/web --to deploy --dst-name old":                                    {"CloneSet", "Deployment", "web", "old", false},
		"statefulset.apps/db --to asts":                                           {"StatefulSet", "AdvancedStatefulSet", "db", "db", false},
		"CloneSet --from Deployment -n default --src-name a --dst-name b":         {"Deployment", "CloneSet", "a", "b", true},
		"cloneset --from deployment -n default --src-name a --create":             {"Deployment", "CloneSet", "a", "a", true},
		"clone --from Deployment -n d --src-name a --dst-name b --create --copy":  {"Deployment", "CloneSet", "a", "b", true},
		"Deployment --from CloneSet -n d --src-name a --dst-name b --max-surge 0": {"CloneSet", "Deployment", "a", "b", true},
		"CloneSet --from Deployment -n d --src-name a --dst-name b --replicas 10": {"Deployment", "CloneSet", "a", "b", true},
	} {
		o, err := parsed(t, line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if o.from.Word != want.from || o.to.Word != want.to || o.source != want.source || o.destination != want.destination || o.older != want.older || o.surge < 1 {
			t.Errorf("%s: %+v", line, o)
		}
	}
}

func TestComplete_Refuses(t *testing.T) {
	const older = "CloneSet --from Deployment -n d --src-name a --dst-name b "
	for line, want := range map[string]string{
		"":                                                   "give one workload",
		"deployment/a cloneset/b":                            "give one workload",
		"deployment/a/b --to CloneSet":                       "is not TYPE/NAME",
		"job/a --to CloneSet":                                "replicas of a job cannot move",
		"daemonset/a --to CloneSet":                          "a DaemonSet cannot become",
		"ads/a --to DaemonSet --replicas 2":                  "and all move",
		"ds/a --to ads --create":                             "would quarrel",
		"ds/a --to ads --copy":                               "would quarrel",
		"ds/a --to ads --dst-name b":                         "taken over under their names",
		"deployment/a":                                       "must specify --to",
		"deployment/a --to CloneSet --copy":                  "--copy",
		"deployment/a --to CloneSet --from Deployment":       "--from is of the older form",
		"deployment/a --to StatefulSet":                      "cannot become",
		"Job --from Deployment -n d":                         "currently only supported Deployment, CloneSet",
		"CloneSet --from Deployment --src-name a":            "must specify namespace by -n or --namespace",
		"CloneSet -n d":                                      "must specify --from",
		"CloneSet -n d --from Deployment":                    "must specify --src-name",
		"CloneSet -n d --from Deployment --src-name a":       "must specify --dst-name",
		"CloneSet -n d --from Job --src-name a --dst-name b": "currently only supported Deployment as src type",
		older + "--copy":                                     "--create alone",
		older + "--replicas 0":                               "invalid replicas 0",
		older + "--replicas -2":                              "invalid replicas -2",
		older + "--max-surge -1":                             "too few",
		older + "--timeout -1s":                              "in the past",
		older + "--dry-run=maybe":                            "--dry-run",
		"sts/a --to asts --dst-name b":                       "which cannot change",
		"asts -n d --from sts --src-name a --create --copy":  "same names",
	} {
		var bad *command.UsageError
		if _, err := parsed(t, line); !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}

// TestDefectTimeout_EndsInTime: the older plugin saw its timeout only when something happened;
// here 0 s are over at once.
func TestDefectTimeout_EndsInTime(t *testing.T) {
	for seconds, want := range map[string]time.Duration{"-1": 0, "0": 1, "7": 7 * time.Second} {
		o, err := parsed(t, "CloneSet --from Deployment -n d --src-name a --dst-name b --timeout-seconds "+seconds)
		if err != nil || o.timeout != want {
			t.Errorf("%s: %v, %v", seconds, o.timeout, err)
		}
	}
}
