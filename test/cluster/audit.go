package cluster

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// auditPolicy records what changes something, with its body, once it is done. Heartbeats
// of nodes are left out.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
omitManagedFields: true
rules:
- {level: None, verbs: [get, list, watch]}
- {level: None, namespaces: [kube-node-lease]}
- {level: Metadata, resources: [{resources: [secrets, serviceaccounts/token]}]}
- {level: RequestResponse}
`

// auditFlags switches the audit log on, if it is asked for.
func (c *Cluster) auditFlags() ([]string, error) {
	if !c.options.audit {
		return nil, nil
	}
	if err := os.WriteFile(c.path("audit-policy.yaml"), []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	return []string{
		"--audit-policy-file=" + c.path("audit-policy.yaml"),
		"--audit-log-path=" + c.path("audit.log"),
		"--audit-log-mode=blocking",
		"--audit-log-maxsize=10000", // one file
	}, nil
}

// Audit returns every change that was asked of the API server so far, in the
// order in which they were finished. The cluster must have been started WithAudit.
func (c *Cluster) Audit() ([]auditv1.Event, error) {
	return c.audited(func([]byte) bool { return true })
}

// AuditOf is Audit of one namespace, the namespace itself included.
func (c *Cluster) AuditOf(namespace string) ([]auditv1.Event, error) {
	inside := []byte(`"namespace":"` + namespace + `"`)
	itself := []byte(`"requestURI":"/api/v1/namespaces/` + namespace)
	events, err := c.audited(func(line []byte) bool { return bytes.Contains(line, inside) || bytes.Contains(line, itself) })
	return slices.DeleteFunc(events, func(e auditv1.Event) bool { return e.ObjectRef == nil || e.ObjectRef.Namespace != namespace }), err
}

// audited reads the lines of the log that are wanted.
func (c *Cluster) audited(wanted func([]byte) bool) ([]auditv1.Event, error) {
	text, err := os.ReadFile(c.path("audit.log"))
	if err != nil {
		return nil, err
	}
	var out []auditv1.Event
	for line := range bytes.Lines(text) {
		if !wanted(line) || !bytes.HasSuffix(line, []byte("\n")) { // or is being written
			continue
		}
		var e auditv1.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}
