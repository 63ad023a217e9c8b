package cluster

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"sync"

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
	return c.audited.events(c.path("audit.log"), func(string) bool { return true })
}

// AuditOf is Audit of one namespace, the namespace itself included.
func (c *Cluster) AuditOf(namespace string) ([]auditv1.Event, error) {
	return c.audited.events(c.path("audit.log"), func(of string) bool { return of == namespace })
}

// audited is what was read of the audit log: many tests look at their part of a long one.
type audited struct {
	mu    sync.Mutex
	read  int64
	lines []auditLine
}

// auditLine is about an object in a namespace.
type auditLine struct {
	text      []byte
	namespace string
}

// events reads on, and returns those of wanted namespaces.
func (a *audited) events(path string, wanted func(namespace string) bool) ([]auditv1.Event, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.NewSectionReader(f, a.read, math.MaxInt64-a.read))
	if err != nil {
		return nil, err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1] // the rest is being written
	a.read += int64(len(text))
	for line := range bytes.Lines(text) {
		a.lines = append(a.lines, auditLine{line, namespaceOf(line)})
	}
	var out []auditv1.Event
	for _, line := range a.lines {
		if !wanted(line.namespace) {
			continue
		}
		var e auditv1.Event
		if err := json.Unmarshal(line.text, &e); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

// namespaceOf is that of the object that a line is about.
func namespaceOf(line []byte) string {
	_, ref, _ := bytes.Cut(line, []byte(`"objectRef":{`))
	ref, _, _ = bytes.Cut(ref, []byte("}"))
	_, name, _ := bytes.Cut(ref, []byte(`"namespace":"`))
	name, _, _ = bytes.Cut(name, []byte(`"`))
	return string(name)
}
