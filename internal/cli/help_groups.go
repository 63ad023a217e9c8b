package cli

import "slices"

// flagGroup is the title of the group of a flag; "" for one that matters to most users of its command. One
// name means one thing everywhere, so that one table is enough.
func flagGroup(name string) string {
	for _, g := range flagGroups {
		if slices.Contains(g.names, name) {
			return g.title
		}
	}
	return ""
}

// flagGroups are the flags that long helps name below those that matter.
var flagGroups = []struct {
	title string
	names []string
}{
	{"Findings", []string{"accept", "baseline", "explain", "strict", "quiet", "report", "allow-empty"}},
	{"Manifests and versions", []string{
		"recursive", "root", "limit", "kruise-schema", "kruise-version", "kubernetes-version", "feature-gates", "with", "live", "enable-alpha-plugins", "api-version",
		"expand", "spread-as", "sidecarset-as", "omit-strategy", "protect-all", "protect-operations", "split-by", "order", "output-kustomization", "template-paths",
		"sandbox-labels", "sandbox-annotations", "forget", "pod-update-policy", "to-version", "applyset",
	}},
	{"Comparison with the cluster", []string{"concurrency", "prune-allowlist"}},
	{"What a simulation assumes", []string{"nodes", "pod-ready", "pod-stop", "fail-pod", "pull", "pub", "seed", "stop-at-pause"}},
	{"How pods are replaced", []string{"driver", "drain", "grace", "hook-answer", "pull-images", "helper-image", "assume-ready", "strategy"}},
	{"Checks between steps", []string{"verify-url", "verify-command", "allow-commands", "allow-link-local"}},
	{"Notifications and metrics", []string{"notify", "notify-secret-file", "listen"}},
	{"In a Job in the cluster", []string{"detach", "manifest", "runner-account", "runner-image", "runner-namespace", "runner-notify-secret"}},
	{"Several workloads", []string{"parallel", "max-unavailable-total", "max-failures", "wave-by", "group"}},
	{"When the command ends", []string{"success-on", "exit-on-pause", "timeout", "step-timeout", "job-timeout", "write-back", "discard-record", "no-wait", "wait", "state-namespace"}},
	{"Metadata", []string{"annotations", "labels", "name"}},
	{"Limits and retries of a job", []string{
		"active-deadline-seconds", "ttl-seconds-after-finished", "backoff-limit", "backoff-limit-per-index", "completion-mode", "completion-policy", "failure-policy",
		"max-failed-indexes", "pod-replacement-policy", "restart-limit", "restart-policy", "managed-by", "suspend", "timeout-seconds", "termination-grace-period-seconds",
		"unready-grace-period-seconds", "min-started-seconds", "force-recreate",
	}},
	{"Less common fields", []string{
		"custom-version", "hot-upgrade-empty-image", "image-pull-policy", "pull-secret", "init-container", "inject-policy", "injection-paused", "injection-policy", "injection-revision",
		"injection-version", "patch-annotations", "patch-policy", "revision-history-limit", "scatter", "share-volume", "share-volume-devices", "update-selector", "upgrade-type",
		"service-account", "node-selector", "ignored-pod-selector", "protect-total-replicas", "cluster-ip", "external-ip", "load-balancer-ip", "override-type", "overrides", "session-affinity",
		"immutable", "resource-name", "set", "exclude",
	}},
	{"The copy of a pod", []string{
		"copy-to", "replace", "same-node", "set-image", "share-processes", "keep-annotations", "keep-init-containers", "keep-labels", "keep-liveness", "keep-readiness", "keep-startup",
		"job-name", "parallelism", "replicas", "ttl", "custom", "arguments-only",
	}},
	{"Programs that authenticate", []string{"auth-provider", "auth-provider-arg", "exec-api-version", "exec-arg", "exec-command", "exec-env", "exec-interactive-mode", "exec-provide-cluster-info"}},
	{"Reading less of a log", []string{"limit-bytes", "max-log-requests", "pod-running-timeout", "ignore-errors", "insecure-skip-tls-verify-backend", "since", "since-time"}},
	{"Other output", []string{
		"template", "allow-missing-template-keys", "show-managed-fields", "no-headers", "sort-by", "label-columns", "show-kind", "show-labels", "output-watch-events", "server-print",
		"chunk-size", "ignore-not-found", "watch-only",
	}},
	{"How objects are written", []string{
		"field-manager", "validate", "save-config", "record", "force-conflicts", "overwrite", "subresource", "raw", "grace-period", "force", "cascade", "now", "interactive",
	}},
}
