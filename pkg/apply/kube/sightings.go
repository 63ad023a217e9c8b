package kube

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// leaseSightings are leases as they were seen while another lease was waited for. A lease that is unchanged for as
// long as it lasts has expired, whichever claim has looked at it: a group whose process was killed does not wait
// for the leases of its rollouts once more.
type leaseSightings struct {
	mu   sync.Mutex
	seen map[string]leaseSighting
}

type leaseSighting struct {
	holder  string
	renewed time.Time
	at      time.Time
}

// look reads the leases of workloads. What cannot be read is waited for later.
func (s *leaseSightings) look(ctx context.Context, core kubernetes.Interface, stateNamespace string, refs []cluster.Ref) {
	for _, ref := range refs {
		namespace, name := recordLocation(ref, stateNamespace)
		l, err := core.CoordinationV1().Leases(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil || l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity == "" || l.Spec.RenewTime == nil {
			continue
		}
		s.mu.Lock()
		if s.seen == nil {
			s.seen = map[string]leaseSighting{}
		}
		s.seen[namespace+"/"+name] = leaseSighting{*l.Spec.HolderIdentity, l.Spec.RenewTime.Time, time.Now()}
		s.mu.Unlock()
	}
}

// expired reports whether a lease has stayed as it was seen for as long as it lasts.
func (s *leaseSightings) expired(namespace, name string, r *resourcelock.LeaderElectionRecord, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was, ok := s.seen[namespace+"/"+name]
	return ok && was.holder == r.HolderIdentity && was.renewed.Equal(r.RenewTime.Time) &&
		now.Sub(was.at) > time.Duration(r.LeaseDurationSeconds)*time.Second
}
