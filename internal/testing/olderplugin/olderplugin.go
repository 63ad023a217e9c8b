// Package olderplugin has what the older plugin of this name can be called with.
package olderplugin

// What families of commands of the older plugin have in common.
const (
	ofPrint  = " output template show-managed-fields allow-missing-template-keys"
	ofFiles  = " filename kustomize recursive"
	ofSet    = ofFiles + ofPrint + " all local dry-run field-manager"
	ofCreate = ofPrint + " save-config validate dry-run field-manager"
)

// Commands are the commands of the older plugin with their flags, "" those of all
// (docs/facts/older-plugin.md#the-older-plugin).
var Commands = map[string]string{
	"": "namespace server kubeconfig context cluster user token as as-group as-uid request-timeout cache-dir client-certificate client-key certificate-authority " +
		"insecure-skip-tls-verify tls-server-name disable-compression username password match-server-version warnings-as-errors profile profile-output",
	"rollout pause":                   ofFiles + ofPrint,
	"rollout resume":                  ofFiles + ofPrint,
	"rollout restart":                 ofFiles + ofPrint,
	"rollout approve":                 ofFiles + ofPrint,
	"rollout undo":                    ofFiles + ofPrint + " to-revision fast dry-run",
	"rollout history":                 ofFiles + ofPrint + " revision",
	"rollout status":                  ofFiles + " watch revision timeout detail",
	"set image":                       ofSet + " selector record",
	"set env":                         ofSet + " selector containers env from keys prefix list resolve overwrite",
	"set resources":                   ofSet + " selector record limits requests containers",
	"set selector":                    ofSet + " record resource-version",
	"set serviceaccount":              ofSet + " record",
	"set subject":                     ofSet + " selector user group serviceaccount",
	"scaledown":                       "pods",
	"migrate":                         "from src-name dst-name create copy replicas max-surge timeout-seconds",
	"exec":                            "container sidecar stdin tty filename pod-running-timeout",
	"create":                          ofFiles + ofCreate + " edit windows-line-endings raw selector",
	"create job":                      ofCreate + " image from",
	"create broadcastJob":             ofCreate + " image from",
	"create ContainerRecreateRequest": ofCreate + " pod containers unreadyGracePeriodSeconds minStartedSeconds",
	"expose": ofFiles + ofPrint + " generator protocol port type load-balancer-ip selector labels container-port target-port external-ip overrides name " +
		"session-affinity cluster-ip dry-run field-manager save-config record",
	"describe rollout": "watch no-color timeout all",
	"get":              "output watch",
	"scale":            ofFiles + ofPrint + " all selector replicas current-replicas resource-version timeout dry-run record",
	"apply": ofFiles + ofPrint + " selector all prune prune-allowlist applyset server-side force-conflicts field-manager dry-run validate overwrite " +
		"force grace-period cascade timeout wait openapi-patch",
	"diff":          ofFiles + " selector server-side force-conflicts field-manager concurrency show-managed-fields prune prune-allowlist",
	"patch":         ofFiles + ofPrint + " patch patch-file type local subresource dry-run field-manager record",
	"replace":       ofFiles + ofPrint + " force cascade grace-period timeout wait raw save-config validate subresource dry-run field-manager",
	"wait":          "for timeout filename recursive selector all all-namespaces field-selector local" + ofPrint,
	"kustomize":     "output enable-helm helm-command load-restrictor network env mount reorder",
	"config view":   "flatten merge minify raw" + ofPrint,
	"plugin list":   "name-only",
	"version":       "client output",
	"api-versions":  "",
	"api-resources": "api-group cached namespaced no-headers output sort-by verbs",
	"options":       "",
	"completion":    "",
	"alpha":         "",
}
