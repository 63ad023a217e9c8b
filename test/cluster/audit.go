package cluster

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// auditPolicy records what changes something, with its body, once it is done.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- {level: None, verbs: [get, list, watch]}
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
	}, nil
}

// Audit returns every change that was asked of the API server so far, in the
// order in which they were finished. The cluster must have been started WithAudit.
func (c *Cluster) Audit() ([]auditv1.Event, error) {
	text, err := os.ReadFile(c.path("audit.log"))
	if err != nil {
		return nil, err
	}
	var out []auditv1.Event
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for lines.Scan() {
		var e auditv1.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, lines.Err()
}
