package commands

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/checkout"
	"github.com/kubectl-kruise/kubectl-kruise/internal/testing/olderplugin"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
)

// olderObjects are what each table of olderLines finds in its namespace.
var olderObjects = cloneSet("web", "") + workload(kruiseV1, "StatefulSet", "db", "serviceName: db") +
	strings.Replace(workload(kruiseV1, "DaemonSet", "agent", ""), "replicas: 3", "minReadySeconds: 0", 1) +
	workload(native, "Deployment", "api", "") + workload(native, "StatefulSet", "sts", "serviceName: sts") +
	strings.Replace(workload(native, "DaemonSet", "ds", ""), "replicas: 3", "minReadySeconds: 0", 1) +
	cloneSet("held", "updateStrategy: {rollingUpdate: {paused: true}}") +
	cloneSet("shop", "") + releaseOf("shop") + schedules + `---
apiVersion: v1
kind: Service
metadata: {name: front}
spec: {ports: [{port: 80}], selector: {app: web}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {color: blue, size: small}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: readers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: ada}]
`

// olderLines are command lines as users of the older plugin type them, one in a line: the line; what it says
// on either stream, after "exit N:" where that is not 0; and what holds afterwards. Lines of one table are
// called in their order, in a namespace with olderObjects. $NS is the namespace, $POD a pod of cloneset/web.
var olderLines = map[string]string{
	"rollout pause, resume": `
rollout pause cloneset/web                     | cloneset.apps.kruise.io/web paused             | cloneset/web spec.updateStrategy.rollingUpdate.paused=true
rollout pause cloneset web                     | exit 1: clonesets.apps.kruise.io "web" is already paused |
rollout pause deployment/api                   | deployment.apps/api paused                     | deployment/api spec.paused=true
rollout restart deployment/api                 | exit 1: can't restart paused deployment (run rollout resume first) |
rollout pause rollout/shop                     | rollout.rollouts.kruise.io/shop paused         | rollout/shop spec.strategy.paused=true
rollout resume clone/web deploy/api            | cloneset.apps.kruise.io/web resumed            | cloneset/web spec.updateStrategy.rollingUpdate.paused=; deployment/api spec.paused=
rollout resume rollout shop                    | rollout.rollouts.kruise.io/shop resumed        | rollout/shop spec.strategy.paused=
rollout resume rollout/shop                    | exit 1: is not paused                          |
rollout pause                                  | exit 2: required resource not specified        |
`,
	"rollout approve, undo --fast, describe rollout": `
rollout approve rollout/shop                   | exit 1: no need to approve: not in canary or blue-green progress |
patch rollouts.rollouts.kruise.io/shop --subresource status --type merge --patch-file paused.json | patched | rollout/shop status.canaryStatus.currentStepState=StepPaused
rollout approve rollout/shop                   | rollout.rollouts.kruise.io/shop approved       | rollout/shop status.canaryStatus.currentStepState=StepReady
rollout approve ro shop                        | exit 1: does not allow to approve, because current canary state is not 'StepPaused' |
rollout undo rollout/shop --fast --dry-run     | rollout.rollouts.kruise.io/shop rolled back (  | rollout/shop status.canaryStatus.nextStepIndex=
rollout undo rollout/shop --fast               | rollout.rollouts.kruise.io/shop rolled back    | rollout/shop status.canaryStatus.nextStepIndex=2
describe rollouts shop                         | Strategy:          Canary                      |
describe rollout shop --no-color --all         | State: StepReady                               |
describe rollout shop --watch --timeout 1       | exit 4                                         |
get rollouts.rollouts.kruise.io shop           | NAME STATUS CANARY_STEP CANARY_STATE MESSAGE AGE |
`,
	"rollout undo, history, status": `
rollout history cloneset/web                   | REVISION                                       |
set image cloneset/web main=registry.example.com/web:2 --record | cloneset.apps.kruise.io/web image updated | cloneset/web spec.template.spec.containers.0.image=registry.example.com/web:2
rollout status cloneset/web                    | cloneset "web" successfully rolled out         | cloneset/web status.updatedReadyReplicas=3
rollout status clone web --detail --timeout 2m       | Updated ready pods: [web-                      |
rollout status cloneset/web --watch=false      | cloneset                                       |
rollout history cloneset web --revision 1      | registry.example.com/web:1                     |
rollout undo cloneset/web                      | cloneset.apps.kruise.io/web rolled back        | cloneset/web spec.template.spec.containers.0.image=registry.example.com/web:1
rollout undo cloneset/web --to-revision 2      | cloneset.apps.kruise.io/web rolled back        | cloneset/web spec.template.spec.containers.0.image=registry.example.com/web:2
set image deployment/api main=registry.example.com/web:2 | deployment.apps/api image updated    |
rollout status deployment/api --revision 2     | deployment "api" successfully rolled out       |
rollout undo deployment/api                    | deployment.apps/api rolled back                | deployment/api spec.template.spec.containers.0.image=registry.example.com/web:1
rollout history deployment/api                 | REVISION                                       |
rollout undo asts/db                           | exit 1: no older revision                      |
rollout status asts/db                         | successfully rolled out                        |
rollout status statefulset.apps/sts            | successfully rolled out                        |
rollout status ads/agent                       | successfully rolled out                        |
rollout undo cloneset/web --to-revision 9      | exit 1: 9                                      |
rollout history cloneset/web --revision -1     | exit 2: revision must be a positive integer: -1 |
`,
	"rollout restart": `
rollout restart cloneset/web                   | cloneset.apps.kruise.io/web restarted          | cloneset/web spec.template.spec.containers.0.env.0.name=RESTARTED_AT
rollout restart deployment/api asts/db ads/agent | statefulset.apps.kruise.io/db restarted      | deployment/api spec.template.metadata.annotations=~restartedAt; asts/db status.updatedReplicas=3
rollout restart statefulset.apps/sts daemonset.apps/ds | daemonset.apps/ds restarted            | sts/sts spec.template.metadata.annotations=~restartedAt; ds/ds spec.template.metadata.annotations=~restartedAt
rollout restart cloneset/none                  | exit 1: none                                   |
`,
	"set": `
set image cloneset/web *=registry.example.com/web:3 | image updated                             | cloneset/web spec.template.spec.containers.0.image=registry.example.com/web:3
set image asts/db main=registry.example.com/web:3 | statefulset.apps.kruise.io/db image updated | asts/db spec.template.spec.containers.0.image=registry.example.com/web:3
set image cloneset/web other=a:1               | exit 1: unable to find container named "other" |
set env cloneset/web A=b C=d                   | cloneset.apps.kruise.io/web env updated        | cloneset/web spec.template.spec.containers.0.env.1.value=d
set env cloneset/web A- -e E=f -c m*           | env updated                                    | cloneset/web spec.template.spec.containers.0.env=~name:E
set env cloneset/web E=g --overwrite=false     | exit 1: --overwrite is false                   |
set env cloneset/web --from configmap/settings --keys color --prefix P_ | env updated            | cloneset/web spec.template.spec.containers.0.env.2.name=P_COLOR
set env cloneset/web --list --resolve          | P_COLOR=blue                                   |
set env asts/db ads/agent A=b --env E=f --containers main | daemonset.apps.kruise.io/agent env updated | asts/db spec.template.spec.containers.0.env=~name:A value:b; ads/agent spec.template.spec.containers.0.env=~name:E value:f
set resources cloneset/web --limits cpu=1,memory=2Gi --requests cpu=500m -c main | resource requirements updated | cloneset/web spec.template.spec.containers.0.resources.limits.memory=2Gi; cloneset/web spec.template.spec.containers.0.resources.requests.cpu=500m
set resources ads/agent --limits cpu=1 --containers * | resource requirements updated           | ads/agent spec.template.spec.containers.0.resources.limits.cpu=1
set serviceaccount cloneset/web shop           | cloneset.apps.kruise.io/web serviceaccount updated | cloneset/web spec.template.spec.serviceAccountName=shop
set sa deployment api shop                     | deployment.apps/api serviceaccount updated     | deployment/api spec.template.spec.serviceAccountName=shop
set selector service/front app=api             | service/front selector updated                 | service/front spec.selector=map[app:api]
set selector service/front app=web --resource-version 1 | exit 1: the object has been modified  |
set subject rolebinding/readers --user eve --group ops --serviceaccount $NS:shop | rolebinding.rbac.authorization.k8s.io/readers subjects updated | rolebinding/readers subjects=~name:shop namespace:$NS
set env cloneset/web --list                    | # CloneSet web, container main                 | cloneset/web spec.template.spec.containers.0.env.0.name=C
`,
	"scaledown, scale": `
scaledown CloneSet web --pods $POD             | # web delete pods [$POD] successfully          | cloneset/web spec.replicas=2; cloneset/web status.replicas=2; pod/$POD gone
scaledown CloneSet web                         | exit 2: must specify one pod name              |
scaledown Deployment api --pods a              | exit 1: currently only supported CloneSet      |
scale cloneset/web --replicas 4 --current-replicas 2 | cloneset.apps.kruise.io/web scaled       | cloneset/web status.readyReplicas=4
scale clone/web asts/db --replicas=1 --timeout 2m | statefulset.apps.kruise.io/db scaled        | asts/db spec.replicas=1
scale cloneset web --replicas 2 --resource-version 1 | exit 1: resource version to be 1         | cloneset/web spec.replicas=1
`,
	"migrate": `
migrate CloneSet --from Deployment -n $NS --src-name api --dst-name api-new --create         | Successfully created from Deployment/api to CloneSet/api-new | cloneset/api-new spec.replicas=0
migrate CloneSet --from Deployment -n $NS --src-name api --dst-name api-new --replicas 2 --max-surge 2 | Successfully migrated 2 replicas from Deployment/api to CloneSet/api-new | cloneset/api-new status.availableReplicas=2; deployment/api spec.replicas=1
migrate clone --from deployment -n $NS --src-name api --dst-name api-new --timeout-seconds 120 | Deployment/api to CloneSet/api-new | deployment/api spec.replicas=0
migrate CloneSet --from Deployment -n $NS --src-name api --dst-name api-copy --create --copy | Successfully created from Deployment/api to CloneSet/api-copy | cloneset/api-copy spec.replicas=0
migrate CloneSet --from Deployment -n $NS --dst-name web | exit 2: must specify --src-name      |
migrate CloneSet -n $NS --src-name api --dst-name web | exit 2: must specify --from             |
migrate StatefulSet --from Deployment -n $NS --src-name api --dst-name web | exit 2:            |
`,
	"exec": `
exec $POD -- hostname                          | $POD                                           |
exec cloneset/web -c main -- hostname          | web-                                           |
exec deploy/api -- hostname                    | api-                                           |
exec asts/db --pod-running-timeout 1m -- hostname | db-                                         |
exec -it $POD -- hostname                      | Unable to use a TTY - input is not a terminal  |
exec $POD -S main -- hostname                  | $POD                                           |
exec --filename web.yaml -- hostname                   | web-                                           |
exec $POD --stdin --tty=false --container main -- false     | exit 1: command terminated with exit code 1 |
exec $POD --sidecar main hostname              | DEPRECATED                                     |
exec                                           | exit 2: pod, type/name or --filename must be specified |
exec $POD                                      | exit 2: you must specify at least one command for the container |
`,
	"create, expose": `
create -f new.yaml                             | cloneset.apps.kruise.io/new created            | cloneset/new spec.replicas=3
create -f new.yaml                             | exit 1: already exists                         |
create -k built/other --save-config --validate=strict | cloneset.apps.kruise.io/other created   | cloneset/other metadata.annotations=~last-applied-configuration
create -f third.yaml --selector app=none --windows-line-endings | exit 1: no objects passed to create  | cloneset/third gone
create -f third.yaml --edit                    | Edit cancelled, no changes made                | cloneset/third gone
create --raw /api/v1/namespaces/$NS/configmaps -f raw.json | "name":"raw"                       | configmap/raw data.a=b
create                                         | exit 2: must specify one of -f and -k          |
create job one --image registry.example.com/report:1 -- run it | job.batch/one created          | job/one spec.template.spec.containers.0.command=[run it]
create job two --from cronjob/old              | job.batch/two created                          | job/two metadata.ownerReferences.0.kind=CronJob
create job three --from acj/report             | job.batch/three created                        | job/three spec.template.spec.containers.0.image=registry.example.com/report:1
create job four --from acj/clean               | exit 1: from must be a job template, but got broadcastjob |
create job five                                | exit 2: either --image or --from must be specified |
create broadcastJob all --image registry.example.com/clean:1 | broadcastjob.apps.kruise.io/all created | bcj/all spec.template.spec.containers.0.name=all
create broadcastJob again --from acj/clean     | broadcastjob.apps.kruise.io/again created      | bcj/again metadata.ownerReferences.0.kind=AdvancedCronJob
create ContainerRecreateRequest crr -p $POD    | containerrecreaterequest.apps.kruise.io/crr created | crr/crr status.phase=Completed; crr/crr spec.ttlSecondsAfterFinished=1800
create ContainerRecreateRequest crr2 --pod $POD --containers main -u 5 -m 6 | crr2 created      | crr/crr2 spec.containers.0.name=main; crr/crr2 spec.strategy.unreadyGracePeriodSeconds=5; crr/crr2 spec.strategy.minStartedSeconds=6
create ContainerRecreateRequest crr3 --pod $POD --unreadyGracePeriodSeconds 7 --minStartedSeconds 8 | crr3 created | crr/crr3 spec.strategy.minStartedSeconds=8
expose cloneset web --port 80 --target-port 8080 | service/web exposed                          | service/web spec.ports.0.targetPort=8080
expose deployment api --port 80 --name two --type NodePort --protocol UDP --labels a=b --selector app=web | service/two exposed | service/two spec.type=NodePort; service/two spec.selector=map[app:web]; service/two metadata.labels=~a:b
expose cloneset/web --port 80 --name three --generator service/v1 --container-port 8081 --cluster-ip None | service/three exposed | service/three spec.ports.0.name=default; service/three spec.clusterIP=None
expose cloneset/web --port 80 --name four --load-balancer-ip 192.0.2.1 --type LoadBalancer --external-ip 192.0.2.2 --session-affinity ClientIP | service/four exposed | service/four spec.externalIPs.0=192.0.2.2; service/four spec.sessionAffinity=ClientIP; service/four spec.loadBalancerIP=192.0.2.1
expose service front --port 81 --name five --overrides '{"metadata":{"labels":{"c":"d"}}}' | service/five exposed | service/five metadata.labels=~c:d
expose cloneset/web                            | exit 1: couldn't find port via --port flag or introspection |
`,
	"get, completion and kubectl's": `
get all                                        | clonesets.apps.kruise.io:                      |
get cloneset                                   | NAME DESIRED UPDATED UPDATED_READY UPDATED_AVAILABLE READY TOTAL AGE |
get clone web --output name                    | cloneset.apps.kruise.io/web                    |
get clonesets.apps.kruise.io web               | web 3 3 3 3 3 3                                |
get rollout shop --watch=false                 | NAME STATUS CANARY_STEP                        |
completion bash                                | kubectl-kruise                                 |
completion zsh                                 | compdef                                        |
completion fish                                | complete -c kubectl-kruise                     |
completion powershell                          | Register-ArgumentCompleter                     |
completion tcsh                                | exit 2: unsupported shell type "tcsh"          |
apply -f fourth.yaml --yes                     | fourth                                         | cloneset/fourth status.readyReplicas=3
diff -f web.yaml                               | exit 1: replicas                               |
diff --recursive --filename deep/web --selector app=web --server-side --force-conflicts --field-manager ops --concurrency 2 --show-managed-fields | exit 1: replicas |
diff --kustomize built/web                              | exit 1: replicas                               |
diff -f front.yaml --prune --prune-allowlist core/v1/ConfigMap -l app=front |                  |

patch cloneset web --type merge -p '{"metadata":{"labels":{"a":"b"}}}' --record --field-manager ops | cloneset.apps.kruise.io/web patched | cloneset/web metadata.labels.a=b
patch cloneset/web --type json --patch '[{"op":"add","path":"/metadata/labels/c","value":"d"}]' | patched | cloneset/web metadata.labels.c=d
patch -f web.yaml --local --type merge -p '{"spec":{"replicas":9}}' -o jsonpath={.spec.replicas} | 9 | cloneset/web spec.replicas=3
replace --raw /api/v1/namespaces/$NS/configmaps/settings -f settings.json | "color":"red"       | configmap/settings data.color=red
replace --save-config --validate=warn --field-manager ops -f settings.yaml | configmap/settings replaced | configmap/settings data.color=green
replace --force --cascade=background --grace-period 0 --timeout 1m --wait -f settings.yaml | replaced | configmap/settings data.color=green
replace -R -f deep/settings                    | configmap/settings replaced                    |
replace -k built/settings --subresource= --dry-run=server -o name | configmap/settings          |
wait --for jsonpath={.spec.replicas}=3 cloneset/web --timeout 1m | condition met                |
wait --for condition=Ready pod -l app=web --field-selector metadata.namespace=$NS | condition met |
wait --for create pod --all --timeout 1m       | condition met                                  |
wait --for create pod -l app=$NS --all-namespaces --timeout 1s | exit 1: timed out waiting           |
wait --for jsonpath={.spec.replicas}=3 -R -f deep/web -o name    | cloneset.apps.kruise.io/web |
wait -f web.yaml --local --for condition=Ready | exit 2: --local: a file does not change        |
kustomize built/web                            | kind: CloneSet                                 |
kustomize built/web --load-restrictor LoadRestrictionsNone --reorder legacy --network=false --env A=b --mount type=bind --enable-helm --helm-command helm --output out.yaml | |
config view --minify --flatten --raw           | clusters:                                      |
config view --merge=false --output go-template --template {{.kind}} --allow-missing-template-keys=false | Config |
config view --output json --show-managed-fields | "clusters":                                   |
plugin list --name-only                        | kubectl-shop                                     |
version --client --output json                       | version                                        |
api-versions                                   | apps.kruise.io/v1beta1                         |
api-resources --api-group apps.kruise.io --namespaced --verbs list,get --sort-by name --no-headers --cached --output name | clonesets.apps.kruise.io |
options                                        | --namespace                                    |
`,
	"flags of every command": `
get clone web -o name --kubeconfig none --server $SERVER --certificate-authority ca.crt --token $TOKEN --request-timeout 30s --cache-dir cache --disable-compression | cloneset.apps.kruise.io/web |
get clone web --client-certificate no.crt --client-key no.key                             | exit 1: open no.crt: no such file |
get clone web -o name -s $SERVER --tls-server-name kubernetes                             | cloneset.apps.kruise.io/web |
get clone web -o name --kubeconfig none --server $SERVER --insecure-skip-tls-verify --token none | exit 1: Unauthorized |
get clone web -o name --context $CONTEXT --cluster $CLUSTER --user $USER                  | cloneset.apps.kruise.io/web |
get clone web -o name --as eve --as-group system:masters --as-uid 7                       | cloneset.apps.kruise.io/web |
get clone web -o name --as eve                 | exit 1: User "eve" cannot                      |
get clone web -o name --namespace kube-system  | exit 1: "web" not found                        |
create -f odd.yaml --validate=warn --warnings-as-errors | exit 1: unknown field "odd"         |
`,
}

// olderForms are what commands of the older plugin that take objects, files and formats are called with here: an
// object, and more.
var olderForms = map[string][2]string{
	"rollout pause": {"cloneset/web"}, "rollout resume": {"cloneset/held"}, "rollout restart": {"cloneset/web"}, "rollout approve": {"rollout/shop"},
	"rollout undo": {"cloneset/held"}, "rollout history": {"cloneset/web"}, "rollout status": {"cloneset/web"},
	"set image": {"cloneset/web", "main=a:1"}, "set env": {"cloneset/web", "A=b"}, "set resources": {"cloneset/web", "--limits=cpu=1"},
	"set selector": {"service/front", "app=x"}, "set serviceaccount": {"cloneset/web", "ops"}, "set subject": {"rolebinding/readers", "--user=x"},
	"create": {"cloneset/new"}, "create job": {"", "new --image=a:1"}, "create broadcastJob": {"", "new --image=a:1"},
	"create ContainerRecreateRequest": {"", "new -p $POD"}, "expose": {"cloneset/web", "--port=80"},
	"scale": {"cloneset/web", "--replicas=2"}, "patch": {"cloneset/web", `--type=merge -p {"metadata":{"labels":{"a":"b"}}}`}, "replace": {"configmap/settings"},
	"wait": {"cloneset/web", "--for=jsonpath={.spec.replicas}=3"},
}

// formsOf are the lines of a command with each flag that its family has in common.
func formsOf(command string) (lines []olderLine) {
	form, ok := olderForms[command]
	if !ok {
		return nil
	}
	object, more := form[0], form[1]
	kind, name, _ := strings.Cut(object, "/")
	if object == "" {
		name = "new"
	}
	flags := strings.Fields(olderplugin.Commands[command])
	dry := ""
	if !slices.Contains([]string{"rollout history", "rollout status", "wait"}, command) {
		dry = "--dry-run=client"
	}
	add := func(flag string, words ...string) {
		if !slices.Contains(flags, flag) {
			return
		}
		line := strings.Join(slices.DeleteFunc(append([]string{command}, words...), func(w string) bool { return w == "" }), " ")
		lines = append(lines, olderLine{line: line, says: name})
	}
	fromFiles := command == "create" || command == "replace"
	target := object
	if fromFiles {
		target = "-f " + name + ".yaml"
	}
	add("template", target, more, dry, "--output go-template --template {{.metadata.name}} --allow-missing-template-keys=false")
	add("show-managed-fields", target, more, dry, "--output json --show-managed-fields")
	add("recursive", "--recursive --filename deep/"+name, more, dry)
	add("kustomize", "--kustomize built/"+name, more, dry)
	if !fromFiles {
		if command != "expose" { // that one is the Service's
			add("selector", kind, "--selector app="+name, more, dry)
		}
		add("all", kind, "--all", more, dry)
		if command != "wait" { // a file does not change
			add("local", "--filename "+name+".yaml --local", more)
		}
	}
	for flag, words := range map[string]string{"field-manager": "--field-manager ops", "record": "--record", "validate": "--validate=strict", "save-config": "--save-config"} {
		add(flag, target, more, dry, words)
	}
	add("dry-run", target, more, "--dry-run=server")
	return lines
}

// olderLine is a command line of the older plugin.
type olderLine struct{ line, says, then string }

// typedLines are the tables of olderLines, and formsOf each command in one of its own.
func typedLines(t *testing.T) map[string][]olderLine {
	t.Helper()
	out := map[string][]olderLine{}
	for table, rows := range olderLines {
		for row := range strings.Lines(strings.TrimSpace(rows)) {
			cells := strings.Split(row+"||", "|")
			out[table] = append(out[table], olderLine{strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])})
		}
	}
	out["forms"] = []olderLine{ // so that there is something to undo and to approve
		{line: "set image cloneset/held main=registry.example.com/web:2", says: "updated", then: "cloneset/held status.updateRevision=~held-"},
		{line: "patch rollouts.rollouts.kruise.io/shop --subresource status --type merge --patch-file paused.json", says: "patched"},
	}
	for _, command := range slices.Sorted(maps.Keys(olderForms)) {
		out["forms"] = append(out["forms"], formsOf(command)...)
	}
	return out
}

// TestOlderPlugin_EveryCommandRuns types the commands of the older plugin with each of their flags, and looks at
// what is there afterwards. Commands and flags that docs/compatibility.md says are not here are left out.
func TestOlderPlugin_EveryCommandRuns(t *testing.T) {
	t.Parallel()
	tables := typedLines(t)
	page, err := os.ReadFile(checkout.Path("docs", "compatibility.md"))
	must(t, err)
	for command, flags := range olderplugin.Commands {
		if command == "apply" { // another command
			flags = ""
		}
		for _, flag := range append([]string{""}, strings.Fields(flags)...) {
			words := strings.TrimSpace(command + " --" + flag)
			if flag == "" {
				words = command
			}
			if !strings.Contains(string(page), "| `"+words+"` | - |") && !slices.ContainsFunc(slices.Collect(maps.Values(tables)), func(rows []olderLine) bool { return calls(rows, command, flag) }) {
				t.Errorf("no line types %q", words)
			}
		}
	}
	for table, rows := range tables {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			newOlderBed(t).run(t, rows)
		})
	}
}

// calls reports whether one of the rows calls a command with a flag.
func calls(rows []olderLine, command, flag string) bool {
	return slices.ContainsFunc(rows, func(r olderLine) bool {
		has := flag == "" || regexp.MustCompile(` --`+flag+`\b($|[= ])`).MatchString(r.line)
		return has && (command == "" || strings.HasPrefix(r.line+" ", command+" "))
	})
}

// olderBed is a bed with olderObjects, files of some of them, and what the variables of lines stand for.
type olderBed struct {
	*bed
	dir       string
	variables []string
}

// labelled gives objects their name as the label app, where they have none.
func labelled(documents string) string {
	return regexp.MustCompile(`metadata: \{name: ([\w-]+)\}`).ReplaceAllString(documents, "metadata: {name: $1, labels: {app: $1}}")
}

func newOlderBed(t *testing.T) *olderBed {
	t.Helper()
	b := &olderBed{bed: withRollouts(t), dir: t.TempDir()}
	b.Apply(t, b.namespace, labelled(olderObjects))
	b.stand(t, rolloutsV1, "Rollout", "shop", map[string]any{"phase": "Healthy", "observedGeneration": int64(1)})
	for object, kind := range map[string]string{"web": kruiseV1 + " CloneSet", "db": kruiseV1 + " StatefulSet", "api": native + " Deployment", "sts": native + " StatefulSet"} {
		apiVersion, kind, _ := strings.Cut(kind, " ")
		b.await(t, apiVersion, kind, object, ready)
	}
	for _, daemons := range []string{kruiseV1 + " agent", native + " ds"} {
		apiVersion, name, _ := strings.Cut(daemons, " ")
		b.await(t, apiVersion, "DaemonSet", name, func(u *unstructured.Unstructured) bool {
			return at(u, "status.numberReady") != "0" && at(u, "status.numberReady") == at(u, "status.desiredNumberScheduled")
		})
	}
	for name, document := range map[string]string{
		"web": strings.Replace(cloneSet("web", ""), "replicas: 3", "replicas: 5", 1), "new": cloneSet("new", ""), "other": cloneSet("other", ""),
		"third": cloneSet("third", ""), "fourth": cloneSet("fourth", ""), "held": cloneSet("held", ""), "shop": releaseOf("shop"), "api": workload(native, "Deployment", "api", ""),
		"front":    "{apiVersion: v1, kind: Service, metadata: {name: front}, spec: {ports: [{port: 80}], selector: {app: web}}}",
		"readers":  "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: readers}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}}",
		"settings": "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {color: green}}",
	} {
		document = labelled(document)
		b.write(t, name+".yaml", document)
		b.write(t, "deep/"+name+"/below/it.yaml", document)
		b.write(t, "built/"+name+"/it.yaml", document)
		b.write(t, "built/"+name+"/kustomization.yaml", "resources: [it.yaml]\n")
	}
	b.write(t, "odd.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: odd}, odd: yes}")
	b.write(t, "kubectl-shop", "#!/bin/sh\n")
	must(t, os.Chmod(filepath.Join(b.dir, "kubectl-shop"), 0o700))
	b.write(t, "paused.json", `{"status": {"phase": "Progressing", "observedGeneration": 1, "canaryStatus": {"currentStepIndex": 3, "currentStepState": "StepPaused"}}}`)
	b.write(t, "raw.json", `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "raw"}, "data": {"a": "b"}}`)
	b.write(t, "settings.json", `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"color": "red"}}`)
	config, err := clientcmd.LoadFromFile(b.Kubeconfig())
	must(t, err)
	current := config.Contexts[config.CurrentContext]
	server, user := config.Clusters[current.Cluster], config.AuthInfos[current.AuthInfo]
	b.write(t, "ca.crt", string(server.CertificateAuthorityData))
	b.write(t, "none", "")
	b.variables = []string{"$NS", b.namespace, "$POD", b.podsOf(t, "web")[0], "$SERVER", server.Server, "$TOKEN", user.Token, "$CONTEXT", config.CurrentContext, "$CLUSTER", current.Cluster, "$USER", current.AuthInfo}
	return b
}

func (b *olderBed) write(t *testing.T, path, content string) {
	t.Helper()
	path = filepath.Join(b.dir, path)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(content), 0o600))
}

// run types lines, one after the other.
func (b *olderBed) run(t *testing.T, rows []olderLine) {
	t.Helper()
	named := strings.NewReplacer(b.variables...)
	for _, row := range rows {
		cmd := b.command(t, splitLine(named.Replace(row.line))...)
		cmd.Dir, cmd.Env = b.dir, append(os.Environ(), "KUBE_EDITOR=true", "PATH="+b.dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
		out, _ := cmd.CombinedOutput() // the exit code is compared
		code, says := 0, named.Replace(row.says)
		if rest, ok := strings.CutPrefix(says, "exit "); ok {
			number, text, _ := strings.Cut(rest, ":")
			wanted, err := strconv.Atoi(number)
			must(t, err)
			code = wanted
			says = strings.TrimSpace(text)
		}
		if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(plain(string(out)), plain(says)) {
			t.Errorf("%s\nexit %d, want %d and %q:\n%s", row.line, got, code, says, out)
		}
		for condition := range strings.SplitSeq(named.Replace(row.then), "; ") {
			if condition != "" && !b.holds(t, condition) {
				t.Errorf("%s\nthen not %s", row.line, condition)
			}
		}
	}
}

// plain has one space where there are more.
func plain(text string) string { return strings.Join(strings.Fields(text), " ") }

// splitLine is a line as a shell splits it: at spaces outside of quotes.
func splitLine(line string) (words []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words[len(words)-1] += part
			continue
		}
		words = append(words, strings.Fields(part)...)
		if strings.HasSuffix(part, " ") {
			words = append(words, "")
		}
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

// olderKinds are the types of conditions.
var olderKinds = map[string]string{
	"cloneset": kruiseV1 + " CloneSet", "asts": kruiseV1 + " StatefulSet", "ads": kruiseV1 + " DaemonSet", "bcj": kruiseV1 + " BroadcastJob",
	"crr": kruiseV1 + " ContainerRecreateRequest", "deployment": native + " Deployment", "sts": native + " StatefulSet", "ds": native + " DaemonSet",
	"rollout": rolloutsV1 + " Rollout", "job": "batch/v1 Job", "pod": "v1 Pod", "service": "v1 Service", "configmap": "v1 ConfigMap",
	"rolebinding": "rbac.authorization.k8s.io/v1 RoleBinding",
}

// olderPatience is how long a condition may take.
const olderPatience = 30 * time.Second

// holds waits until TYPE/NAME PATH=VALUE or PATH=~PART of an object holds, or TYPE/NAME is gone.
func (b *olderBed) holds(t *testing.T, condition string) bool {
	t.Helper()
	object, want, _ := strings.Cut(condition, " ")
	kind, name, _ := strings.Cut(object, "/")
	apiVersion, kind, ok := strings.Cut(olderKinds[kind], " ")
	if !ok {
		t.Fatalf("%s: no such type", condition)
	}
	for deadline := time.Now().Add(olderPatience); want == "gone"; time.Sleep(50 * time.Millisecond) {
		if gone := b.get(t, apiVersion, kind, name) == nil; gone || time.Now().After(deadline) {
			return gone
		}
	}
	path, value, _ := strings.Cut(want, "=")
	part, some := strings.CutPrefix(value, "~")
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	client, err := b.Resource(u, b.namespace)
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), olderPatience)
	defer cancel()
	_, err = cluster.Await(ctx, client, name, func(_ watch.EventType, u *unstructured.Unstructured) bool {
		got := at(u, path)
		return got == value || some && strings.Contains(got, part)
	})
	return err == nil
}
