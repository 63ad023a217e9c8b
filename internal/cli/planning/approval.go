package planning

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// Approval is one approval.
type Approval struct {
	// Digest is [plan.Plan.Digest] of what was approved.
	Digest string `json:"digest"`
	// Target names the workload, for people who read the file.
	Target string    `json:"target"`
	At     time.Time `json:"at"`
}

// minKeptApprovals is how many approvals are kept for certain; beyond twice as many, the oldest are
// dropped.
const minKeptApprovals = 1000

// approvalsFile is where this user's approvals are kept: in the XDG state folder, which other users
// of the machine cannot write.
func approvalsFile(getenv func(string) string) (string, error) {
	state := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "kubectl-kruise", "approvals.jsonl"), nil
}

// RememberApproval keeps an approval.
func RememberApproval(getenv func(string) string, n Approval) error {
	path, err := approvalsFile(getenv)
	if err != nil {
		return err
	}
	notes, err := readApprovals(path)
	if err != nil {
		return err
	}
	if len(notes) > 2*minKeptApprovals {
		return writeApprovals(path, append(notes[len(notes)-minKeptApprovals+1:], n))
	}
	return appendApproval(path, n)
}

// appendApproval appends a note by one write: several processes may do so at a time, and none loses the
// note of another.
func appendApproval(path string, n Approval) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	line, err := json.Marshal(n)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	// A line that another process was ended in the middle of is none, and takes no other with it.
	_, err = f.Write(slices.Concat([]byte{'\n'}, line, []byte{'\n'}))
	return errors.Join(err, f.Close())
}

// IsApproved reports whether one of the digests was approved by this user on this machine.
func IsApproved(getenv func(string) string, digests []string) (bool, error) {
	path, err := approvalsFile(getenv)
	if err != nil {
		return false, err
	}
	notes, err := readApprovals(path)
	return slices.ContainsFunc(notes, func(n Approval) bool { return slices.Contains(digests, n.Digest) }), err
}

// readApprovals reads the notes. A file that others can write vouches for nothing.
func readApprovals(path string) ([]Approval, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if writableByOthers(info) {
		return nil, fmt.Errorf("%s: other users may write it, so its approvals do not count; chmod 600 it after a look", path)
	}
	var out []Approval
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var n Approval
		if json.Unmarshal(lines.Bytes(), &n) == nil && n.Digest != "" { // a line that was half written is none
			out = append(out, n)
		}
	}
	return out, nil
}

// writeApprovals puts a new file in the place of the old one.
func writeApprovals(path string, notes []Approval) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".approvals-*") // with mode 0600
	if err != nil {
		return err
	}
	enc := json.NewEncoder(f)
	for _, n := range notes {
		err = errors.Join(err, enc.Encode(n))
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// ClusterIdentities are the identities of a cluster, the preferred one first: the uid of its
// namespace kube-system, where it may be read, and the certificate authority or the
// address of its server. An approval made with one of them counts.
func ClusterIdentities(ctx context.Context, client kubernetes.Interface, cfg *rest.Config) []string {
	var out []string
	if ns, err := client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{}); err == nil && ns.UID != "" {
		out = append(out, "uid:"+string(ns.UID))
	}
	authority := cfg.CAData
	if len(authority) == 0 && cfg.CAFile != "" {
		authority, _ = os.ReadFile(cfg.CAFile)
	}
	if len(authority) > 0 {
		sum := sha256.Sum256(authority)
		return append(out, "ca:"+hex.EncodeToString(sum[:16]))
	}
	return append(out, "server:"+cfg.Host)
}

// ApprovedHere reports whether this user approved a plan on this machine, for the cluster of the client.
func ApprovedHere(getenv func(string) string, client kubernetes.Interface, cfg *rest.Config) func(context.Context, *plan.Plan) bool {
	return func(ctx context.Context, p *plan.Plan) bool {
		known, err := IsApproved(getenv, ApprovalDigests(p, ClusterIdentities(ctx, client, cfg)))
		return err == nil && known
	}
}

// ApprovalDigests are those of a plan in a cluster of several identities.
func ApprovalDigests(p *plan.Plan, clusters []string) []string {
	var out []string
	for _, id := range clusters {
		out = append(out, p.Digest(id))
	}
	return out
}
