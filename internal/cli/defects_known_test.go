package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// defects are all of the older plugin that are known (docs/facts/older-plugin.md#the-older-plugin,
// issue 8), each with the tests that ours does not have it.
var defects = map[string][]string{
	"--warnings-as-errors has no effect":                               {"TestDefectWarningsAsErrors"},
	"servers whose preferred version differs are not handled":          {"TestDefectPreferredVersion"},
	"restart: the first object only":                                   {"TestDefectRestartFirstOnly"},
	"restart: a CloneSet behind a native workload gets an annotation":  {"TestDefectRestartFirstOnly", "TestDefectRestartKinds"},
	"restart: Advanced StatefulSets and DaemonSets behind others fail": {"TestDefectRestartKinds"},
	"restart: what is not there panics":                                {"TestDefectRestartNotFound"},
	"restart: InPlaceOnly never restarts":                              {"TestDefectRestartKinds"},
	"restart, undo, status: UnitedDeployments are missing":             {"TestDefectUnitedVerbs"},
	"undo: fields that the bad version added survive":                  {"TestDefectUndoLeaves"},
	"undo: the dry run of an Advanced StatefulSet panics":              {"TestDefectUndoDryRunStatefulSet"},
	"undo --fast: several Rollouts have the target of the first":       {"TestDefectUndoFast"},
	"undo --fast: --dry-run writes":                                    {"TestDefectFast", "TestDefectUndoFast"},
	"undo --fast: numbers are compared with percentages":               {"TestDefectFast"},
	"undo --fast: matches count as no traffic":                         {"TestDefectFast"},
	"status: done at once in place":                                    {"TestDefectStatusEarly"},
	"status: a partition in percent counts as 0":                       {"TestDefectStatusEarly"},
	"status: done while ReCreate has old pods that are ready":          {"TestDefectStatusEarly"},
	"status: never exits":                                              {"TestDefectStatusEnds"},
	"status: 0 when the watch closes":                                  {"TestDefectStatusWatchCloses", "TestDefectStatusWatchClosesRollout"},
	"status: Advanced DaemonSets are missing":                          {"TestDefect_DaemonSetIsNotDoneEarly"},
	"status: Rollouts are missing":                                     {"TestDefectStatusWatchClosesRollout"},
	"set env, resources: --list and dry runs write":                    {"TestDefectSetWrites"},
	"set env, resources: --local fails":                                {"TestDefectSetWrites"},
	"set env, resources: the first object only":                        {"TestDefectSetWrites"},
	"set env, resources: a patch that Advanced DaemonSets refuse":      {"TestDefectSetDaemonSet"},
	"set env, resources, serviceaccount: a SidecarSet panics":          {"TestDefectSetSidecarSet"},
	"scaledown: names are not trimmed, count twice, may be anybody's":  {"TestDefectScaledownNames", "TestDefectScaledown"},
	"scaledown: replicas go below 0, and none panic":                   {"TestDefectScaledownReplicas"},
	"scaledown: no dry run":                                            {"TestDefectScaledown"},
	"scaledown: fails on the example of its help":                      {"TestDefectScaledownHelpExample"},
	"migrate: replicas are copied without --copy":                      {"TestDefectMigrateReplicas", "TestDefectMigrateCopy"},
	"migrate: finalizers and others' annotations are copied":           {"TestDefectCopied", "TestDefectMigrateCopy"},
	"migrate: the timeout counts only when something happens":          {"TestDefectTimeout"},
	"migrate: more replicas than there are never end":                  {"TestDefectMigrateReplicas"},
	"migrate: an interruption loses the counts":                        {"TestDefectMigrateInterrupted"},
	"exec -S: a name that is not in the map is ignored":                {"TestDefectSidecarNotInMap"},
	"create job --from: the CronJob as batch/v1beta1":                  {"TestDefectCreateFrom"},
	"create broadcastJob: another group and kind":                      {"TestDefectBroadcastJobGroup", "TestDefectCreateFrom"},
	"create ContainerRecreateRequest: --containers is ignored":         {"TestDefectRecreateContainersIgnored", "TestDefectRecreateRequest"},
	"create ContainerRecreateRequest: grace flags are dropped":         {"TestDefectRecreateGraceDropped", "TestDefectRecreateRequest"},
	"create ContainerRecreateRequest: a hook without preStop panics":   {"TestDefectRecreateRequest"},
	"expose: a CloneSet needs --port":                                  {"TestDefectExposeWithoutPort"},
	"describe rollout: v1alpha1, missing parts and headers panic":      {"TestDefectDescribeRolloutPanics"},
	"describe rollout: --no-color has colour":                          {"TestDefectNoColor"},
	"get all: -n is ignored":                                           {"TestDefectGetAll"},
	"get all: a kind that is missing ends it":                          {"TestDefectGetMissingKind"},
	"get: types in other words print nothing, and end with 0":          {"TestDefectGetUnknownType", "TestDefectGetAll"},
	"get: no -o and no -w":                                             {"TestDefectGetAll", "TestDefectGetWatch"},
	"get: blue-green shows 0 and Completed":                            {"TestDefectGetAll"},
	"completion: no argument panics":                                   {"TestDefectCompletionWithoutShell"},
	"the distribution generator drops what comes in":                   {"TestDefectGeneratorDropsItems"},
}

// testsOf are the names of all tests below the folders, of a prefix.
func testsOf(t *testing.T, prefix string, roots ...string) []string {
	t.Helper()
	var out []string
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, prefix) {
					out = append(out, f.Name.Name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestKnownDefects_HaveTests: every known defect of the older plugin has a test that is there,
// and every such test says of which.
func TestKnownDefects_HaveTests(t *testing.T) {
	there := testsOf(t, "TestDefect", "../../internal", "../../pkg", "../../test")
	named := []string{"TestKnownDefects_HaveTests"}
	for defect, tests := range defects {
		for _, name := range tests {
			if named = append(named, name); !slices.Contains(there, name) {
				t.Errorf("%s: there is no %s", defect, name)
			}
		}
	}
	for _, name := range there {
		if !slices.Contains(named, name) {
			t.Errorf("%s is of no defect that is listed", name)
		}
	}
}

// TestDefectWarningsAsErrors: what the server warns of is said, and is the end only where
// somebody wants it so.
func TestDefectWarningsAsErrors(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECACHEDIR", filepath.Join(t.TempDir(), "cache"))
	kruise := ""
	url := cluster(t, &kruise)
	for _, c := range []struct {
		flag string
		code int
		err  string
	}{{"--warnings-as-errors=false", exitDone, ""}, {"--warnings-as-errors", exitError, "error: 1 warning received\n"}} {
		code, _, said := call(t.Context(), t, "", "render", "-q", "-f", file(t, everywhere), "--live", "--server", url, c.flag)
		if code != c.code || !strings.Contains(said, "Warning: this server is old\n") || !strings.HasSuffix(said, c.err) {
			t.Errorf("%s: exit %d\n%s", c.flag, code, said)
		}
	}
}
