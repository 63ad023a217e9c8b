package gates

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan/cluster"
)

// Manager is the Deployment of Kruise's manager; nil where there is none. It has at
// least one container.
func Manager(ctx context.Context, client kubernetes.Interface) (*appsv1.Deployment, error) {
	list, err := client.AppsV1().Deployments(kruise.DefaultNamespace).List(ctx, metav1.ListOptions{LabelSelector: kruise.ManagerSelector})
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		if len(list.Items[i].Spec.Template.Spec.Containers) > 0 {
			return &list.Items[i], nil
		}
	}
	return nil, nil
}

// Given are the texts NAME=VALUE of --feature-gates of a manager.
func Given(manager *appsv1.Deployment) []string {
	c := manager.Spec.Template.Spec.Containers[0]
	return argued(slices.Concat(c.Command, c.Args))
}

func argued(args []string) []string {
	var out []string
	for i, a := range args {
		text, ok := strings.CutPrefix(strings.TrimLeft(a, "-"), "feature-gates")
		if !ok || !strings.HasPrefix(a, "-") {
			continue
		}
		if text == "" && i+1 < len(args) {
			text = args[i+1]
		}
		for one := range strings.SplitSeq(strings.TrimPrefix(text, "="), ",") {
			if one != "" {
				out = append(out, strings.TrimSpace(one))
			}
		}
	}
	return out
}

// Reader reads the gates of one cluster, and asks it once. Its zero value is ready.
type Reader struct {
	once    sync.Once
	manager *appsv1.Deployment
	err     error
}

// Live returns the gates of a cluster: Kruise's defaults, what the arguments of its manager
// say and, above both, the flag. unread is why the manager's arguments could not be read;
// empty where they were, and where there is no Kruise. Errors are of usage.
func (r *Reader) Live(ctx context.Context, cfg *rest.Config, flag []string) (set Set, unread string, err error) {
	if set, err = Parse(flag); err != nil {
		return set, "", err
	}
	r.once.Do(func() { r.manager, r.err = manager(ctx, cfg) })
	manager, err := r.manager, r.err
	if err != nil {
		return set, err.Error(), nil //nolint:nilerr // unread says it
	}
	if manager == nil {
		return set, "", nil
	}
	set = Set{Gates: cluster.DefaultGates()}
	set.lay(Given(manager))
	flags, err := Parse(flag)
	if err != nil {
		return flags, "", err
	}
	for _, one := range flag {
		name, _, _ := strings.Cut(one, "=")
		*fields[name](&set) = *fields[name](&flags)
	}
	return set, "", nil
}

// Live is that of a new [Reader].
func Live(ctx context.Context, cfg *rest.Config, flag []string) (set Set, unread string, err error) {
	var r Reader
	return r.Live(ctx, cfg, flag)
}

func manager(ctx context.Context, cfg *rest.Config) (*appsv1.Deployment, error) {
	client, err := kubernetes.NewForConfig(rest.CopyConfig(cfg))
	if err != nil {
		return nil, err
	}
	return Manager(ctx, client)
}

// lay switches gates as a manager is told to; AllAlpha, AllBeta and gates that change no
// plan are not looked at.
func (g *Set) lay(given []string) {
	for _, one := range given {
		name, value, _ := strings.Cut(one, "=")
		on, err := strconv.ParseBool(value)
		if field := fields[name]; field != nil && err == nil {
			*field(g) = on
		}
	}
}
