package cluster

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"slices"
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
	text, err := os.ReadFile(c.path("audit.log"))
	if err != nil {
		return nil, err
	}
	return decoded(slices.Collect(bytes.Lines(wholeLines(text))))
}

// AuditOf is Audit of one namespace, the namespace itself included.
func (c *Cluster) AuditOf(namespace string) ([]auditv1.Event, error) {
	lines, err := c.audited.of(namespace, c.path("audit.log"))
	if err != nil {
		return nil, err
	}
	return decoded(lines)
}

// audited is what was read of the audit log, by namespace: many tests look at their part of a long one.
type audited struct {
	mu    sync.Mutex
	read  int64
	lines map[string][][]byte
}

// of reads on, and returns the lines of a namespace.
func (a *audited) of(namespace, path string) ([][]byte, error) {
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
	whole := wholeLines(text)
	a.read += int64(len(whole))
	if a.lines == nil {
		a.lines = map[string][][]byte{}
	}
	for line := range bytes.Lines(whole) {
		of := namespaceOf(line)
		a.lines[of] = append(a.lines[of], line)
	}
	return slices.Clone(a.lines[namespace]), nil
}

// wholeLines leaves out the line that is being written.
func wholeLines(text []byte) []byte { return text[:bytes.LastIndexByte(text, '\n')+1] }

// namespaceOf is that of the object that a line is about.
func namespaceOf(line []byte) string {
	_, ref, _ := bytes.Cut(line, []byte(`"objectRef":{`))
	ref, _, _ = bytes.Cut(ref, []byte("}"))
	_, name, _ := bytes.Cut(ref, []byte(`"namespace":"`))
	name, _, _ = bytes.Cut(name, []byte(`"`))
	return string(name)
}

func decoded(lines [][]byte) ([]auditv1.Event, error) {
	out := make([]auditv1.Event, len(lines))
	for i, line := range lines {
		if err := json.Unmarshal(line, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
