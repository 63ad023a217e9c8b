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
	"--warnings-as-errors has no effect":                                             {"TestDefectWarningsAsErrors_FailsOnWarnings"},
	"servers whose preferred version differs are not handled":                        {"TestDefectVersion_IsTheOneServed"},
	"restart: the first object only":                                                 {"TestDefectRestart_RestartsEveryObject"},
	"restart: a CloneSet behind a native workload gets an annotation":                {"TestDefectRestart_RestartsEveryObject", "TestDefectRestart_WorksForEachKind"},
	"restart: Advanced StatefulSets and DaemonSets behind others fail":               {"TestDefectRestart_WorksForEachKind"},
	"restart: what is not there panics":                                              {"TestDefectRestart_ReportsAMissingObject"},
	"restart: InPlaceOnly never restarts":                                            {"TestDefectRestart_WorksForEachKind"},
	"restart, undo, status: UnitedDeployments are missing":                           {"TestDefectUnitedDeployment_WorksInEveryVerb"},
	"undo: fields that the bad version added survive":                                {"TestDefectUndo_RemovesAddedFields"},
	"undo: the dry run of an Advanced StatefulSet panics":                            {"TestDefectUndo_DryRunOfAStatefulSet"},
	"undo --fast: several Rollouts have the target of the first":                     {"TestDefectUndoFast_DryRunWritesNothing"},
	"undo --fast: --dry-run writes":                                                  {"TestDefectFast_RollsBackByTheRollout", "TestDefectUndoFast_DryRunWritesNothing"},
	"undo --fast: numbers are compared with percentages":                             {"TestDefectFast_RollsBackByTheRollout"},
	"undo --fast: matches count as no traffic":                                       {"TestDefectFast_RollsBackByTheRollout"},
	"status: done at once in place":                                                  {"TestDefectStatus_WaitsForPods"},
	"status: a partition in percent counts as 0":                                     {"TestDefectStatus_WaitsForPods"},
	"status: done while ReCreate has old pods that are ready":                        {"TestDefectStatus_WaitsForPods"},
	"status: never exits":                                                            {"TestDefectStatus_TimesOut"},
	"status: 0 when the watch closes":                                                {"TestDefectStatus_SurvivesAClosedWatch", "TestDefectStatus_SurvivesAClosedWatchOfARollout"},
	"status: Advanced DaemonSets are missing":                                        {"TestDefect_DaemonSetIsNotDoneEarly"},
	"status: Rollouts are missing":                                                   {"TestDefectStatus_SurvivesAClosedWatchOfARollout"},
	"set env, resources: --list and dry runs write":                                  {"TestDefectSet_DryRunAndListWriteNothing"},
	"set env, resources: --local fails":                                              {"TestDefectSet_DryRunAndListWriteNothing"},
	"set env, resources: the first object only":                                      {"TestDefectSet_DryRunAndListWriteNothing"},
	"set env, resources: a patch that Advanced DaemonSets refuse":                    {"TestDefectSet_WorksForDaemonSets"},
	"set env, resources, serviceaccount: a SidecarSet panics":                        {"TestDefectSet_WorksForSidecarSets"},
	"scaledown: names are not trimmed, count twice, may be those of other workloads": {"TestDefectScaledown_CountsEachNameOnce", "TestDefectScaledown_RefusesForeignPods"},
	"scaledown: replicas go below 0, and none panic":                                 {"TestDefectScaledown_KeepsReplicasAboveZero"},
	"scaledown: no dry run":                                                          {"TestDefectScaledown_RefusesForeignPods"},
	"scaledown: fails on the example of its help":                                    {"TestDefectScaledown_AcceptsTheExampleOfItsHelp"},
	"migrate: replicas are copied without --copy":                                    {"TestDefectMigrate_MovesNoMoreReplicasThanThereAre", "TestDefectMigrate_CopiesNoFinalizers"},
	"migrate: finalizers and others' annotations are copied":                         {"TestDefectCopy_LeavesOutFieldsOfTheOldWorkload", "TestDefectMigrate_CopiesNoFinalizers"},
	"migrate: the timeout counts only when something happens":                        {"TestDefectTimeout_EndsInTime"},
	"migrate: more replicas than there are never end":                                {"TestDefectMigrate_MovesNoMoreReplicasThanThereAre"},
	"migrate: an interruption loses the counts":                                      {"TestDefectMigrate_ContinuesAfterAKill"},
	"exec -S: a name that is not in the map is ignored":                              {"TestDefectSidecar_FallsBackToItsOwnName"},
	"create job --from: the CronJob as batch/v1beta1":                                {"TestDefectCreate_FromAnotherObject"},
	"create broadcastJob: another group and kind":                                    {"TestDefectBroadcastJob_HasKruisesGroup", "TestDefectCreate_FromAnotherObject"},
	"create ContainerRecreateRequest: --containers is ignored":                       {"TestDefectRecreate_KeepsContainers", "TestDefectRecreateRequest_IsAccepted"},
	"create ContainerRecreateRequest: grace flags are dropped":                       {"TestDefectRecreate_KeepsGracePeriods", "TestDefectRecreateRequest_IsAccepted"},
	"create ContainerRecreateRequest: a hook without preStop panics":                 {"TestDefectRecreateRequest_IsAccepted"},
	"expose: a CloneSet needs --port":                                                {"TestDefectExpose_FindsPorts"},
	"describe rollout: v1alpha1, missing parts and headers panic":                    {"TestDefectDescribe_SurvivesBrokenRollouts"},
	"describe rollout: --no-color has colour":                                        {"TestDefectNoColor_PrintsNoEscapes"},
	"get all: -n is ignored":                                                         {"TestDefectGetAll_SkipsMissingKinds"},
	"get all: a kind that is missing ends it":                                        {"TestDefectGet_SkipsKindsThatAreNotServed"},
	"get: types in other words print nothing, and end with 0":                        {"TestDefectGet_ReportsAnUnknownType", "TestDefectGetAll_SkipsMissingKinds"},
	"get: no -o and no -w":                                                           {"TestDefectGetAll_SkipsMissingKinds", "TestDefectGetWatch_PrintsChanges"},
	"get: blue-green shows 0 and Completed":                                          {"TestDefectGetAll_SkipsMissingKinds"},
	"completion: no argument panics":                                                 {"TestDefectCompletion_ReportsAMissingShell"},
	"the distribution generator drops what comes in":                                 {"TestDefectGenerator_KeepsItems"},
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

// TestDefectWarningsAsErrors_FailsOnWarnings: what the server warns of is printed, and ends the command only where
// the flag is set.
func TestDefectWarningsAsErrors_FailsOnWarnings(t *testing.T) {
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
