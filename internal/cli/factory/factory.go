// Package factory gives commands what they work with: streams, and clients of a cluster that
// are opened only when a command asks for them. Its clients end with the command, report
// servers that do not answer, and log requests with the values of Secrets masked (--v).
package factory

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-kruise/kubectl-kruise/internal/view"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/kruise/counted"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/resource"
)

// Streams are the three standard streams and what is known of them.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// OutTTY, ErrTTY and InTTY report whether a person sits at the other end.
	OutTTY, ErrTTY, InTTY bool
	// Width and ErrWidth are the numbers of columns of the terminals on Out and Err, 0 without one.
	Width, ErrWidth int
	// Size is the terminal on Out now, in columns and rows; nil without one.
	Size func() (columns, rows int)
	// Environ is the environment, as NAME=VALUE.
	Environ []string
	// Exit ends the process; nil where it is not ours to end, as in tests.
	Exit func(code int)
}

// System returns the streams of this process.
func System() Streams {
	noticeDeadServers()
	s := Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY:  term.IsTerminal(int(os.Stdin.Fd())),
		OutTTY: term.IsTerminal(int(os.Stdout.Fd())),
		ErrTTY: term.IsTerminal(int(os.Stderr.Fd())),
		Width:  width(os.Stdout), ErrWidth: width(os.Stderr),
		Environ: os.Environ(), Exit: os.Exit,
	}
	if s.OutTTY {
		s.Size = func() (columns, rows int) { return size(os.Stdout) }
	}
	return s
}

// Getenv is the value of a variable of the environment, "" without one.
func (s Streams) Getenv(name string) string {
	for _, line := range s.Environ {
		key, value, _ := strings.Cut(line, "=")
		if key == name || runtime.GOOS == "windows" && strings.EqualFold(key, name) {
			return value
		}
	}
	return ""
}

func width(out *os.File) int {
	columns, _ := size(out)
	return columns
}

// size is 0 by 0 where there is no terminal.
func size(out *os.File) (columns, rows int) {
	columns, rows, err := term.GetSize(int(out.Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, rows
}

// Factory makes clients from kubectl's flags when they are first needed.
type Factory struct {
	Streams Streams
	// Flags are kubectl's connection flags (--kubeconfig, --context, -n …).
	Flags *genericclioptions.ConfigFlags
	// Color is the value of --color: auto, always or never.
	Color string
	// Progress is the value of --progress: auto, always or never. working is what
	// [Factory.Working] reports; nil for nothing.
	Progress string
	working  *progressLine
	// WarningsAsErrors indicates that a call on which the server warned has failed.
	WarningsAsErrors bool
	// Silent indicates that no line tells of servers that do not answer: something else has the
	// whole terminal.
	Silent bool
	// saying keeps such lines apart.
	saying *sync.Mutex
	// bounds end requests with the command.
	bounds *bounds
	// warnings prints each of the server's warnings once, whichever client got it.
	warnings counter
}

// counter handles warnings, and counts them.
type counter interface {
	rest.WarningHandler
	WarningCount() int
}

// Warned is an error where the server has warned and warnings are errors.
func (f *Factory) Warned() error {
	n := f.warnings.WarningCount()
	if !f.WarningsAsErrors || n == 0 {
		return nil
	}
	return errors.New(counted.Of(n, "warning") + " received")
}

// New returns a factory over s. It opens nothing.
func New(s Streams) *Factory {
	f := &Factory{
		Streams: s, Flags: genericclioptions.NewConfigFlags(true), Color: "auto", Progress: "auto", saying: &sync.Mutex{}, bounds: &bounds{},
		warnings: rest.NewWarningWriter(s.Err, rest.WarningWriterOptions{Deduplicate: true}),
	}
	// Whatever makes a client of the flags says when the server does not answer, and ends
	// with the command.
	f.Flags.WrapConfigFn = func(cfg *rest.Config) *rest.Config {
		cfg.Wrap(f.telling(cfg.Timeout))
		return cfg
	}
	return f
}

// With returns a factory for the same cluster over other streams: the server's warnings
// go there, too.
func (f *Factory) With(s Streams) *Factory {
	out := *f
	out.Streams, out.warnings = s, rest.NewWarningWriter(s.Err, rest.WarningWriterOptions{Deduplicate: true})
	return &out
}

// InContext returns a factory for another context of the same kubeconfig: flags that name a
// cluster, a user or a namespace are those of the old one, and left out.
func (f *Factory) InContext(name string) *Factory {
	out := New(f.Streams)
	out.Color, out.WarningsAsErrors, out.Silent, out.bounds = f.Color, f.WarningsAsErrors, f.Silent, f.bounds
	to, from := out.Flags, f.Flags
	to.KubeConfig, to.CacheDir, to.Timeout = from.KubeConfig, from.CacheDir, from.Timeout
	to.Impersonate, to.ImpersonateUID, to.ImpersonateGroup = from.Impersonate, from.ImpersonateUID, from.ImpersonateGroup
	to.Context = &name
	return out
}

// Contexts are the names of the contexts in the kubeconfig, sorted; none without one.
func (f *Factory) Contexts() []string {
	cfg, err := f.Flags.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(cfg.Contexts))
}

// Namespace returns the value of -n as given, "" without the flag. It does not
// look into any kubeconfig.
func (f *Factory) Namespace() string {
	if f.Flags.Namespace == nil {
		return ""
	}
	return *f.Flags.Namespace
}

// NamespaceOrDefault returns the namespace to work in, as kubectl chooses it: -n,
// the context's, or default. Without -n it looks into the kubeconfig.
func (f *Factory) NamespaceOrDefault() (string, error) {
	// ConfigFlags keep the values that the flags had when they were first asked.
	if given := f.Namespace(); given != "" {
		return given, nil
	}
	namespace, _, err := f.Flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return "", connectionError(err)
	}
	return namespace, nil
}

// Dynamic returns a client for objects of any kind.
func (f *Factory) Dynamic() (dynamic.Interface, error) {
	cfg, err := f.Config()
	if err != nil {
		return nil, err
	}
	return dynamic.NewForConfig(cfg)
}

// InNamespace returns [Factory.Dynamic] and [Factory.NamespaceOrDefault], for verbs that
// work on objects of one namespace.
func (f *Factory) InNamespace() (client dynamic.Interface, namespace string, err error) {
	if namespace, err = f.NamespaceOrDefault(); err != nil {
		return nil, "", err
	}
	client, err = f.Dynamic()
	return client, namespace, err
}

// Discovery returns a client that tells what the server serves now: kubectl's
// cache on disk would go on telling for hours that there is no Kruise.
func (f *Factory) Discovery() (*discovery.DiscoveryClient, error) {
	cfg, err := f.Config()
	if err != nil {
		return nil, err
	}
	return discovery.NewDiscoveryClientForConfig(cfg)
}

// Config is how to reach the cluster.
func (f *Factory) Config() (*rest.Config, error) {
	cfg, err := f.Flags.ToRESTConfig()
	if err != nil {
		return nil, connectionError(err)
	}
	// The server has its own fairness; client-go's 5 requests a second would
	// make reading a hundred namespaces take most of a minute.
	cfg.QPS, cfg.Burst = 50, 300
	cfg.WarningHandler = f.warnings
	boundAnswers(cfg)
	return cfg, nil
}

func connectionError(err error) error {
	return &resource.Error{Err: fmt.Errorf("cannot connect to the cluster: %w", err), Hint: "check --kubeconfig, --context and $KUBECONFIG"}
}

// ColorErr reports whether messages on stderr may be coloured: --color first,
// then NO_COLOR, then whether stderr is a terminal.
func (f *Factory) ColorErr() bool { return f.color(f.Streams.ErrTTY) }

// OutStyle reports how text on stdout may look; full shows everything.
func (f *Factory) OutStyle(full bool) view.Style {
	return view.Style{Color: f.color(f.Streams.OutTTY), Unicode: f.Streams.OutTTY && !ASCII(f.Streams.Getenv), Width: f.Streams.Width, Full: full, Connection: f}
}

// ErrStyle is as OutStyle, for text on stderr.
func (f *Factory) ErrStyle() view.Style {
	return view.Style{Color: f.ColorErr(), Width: f.Streams.ErrWidth}
}

func (f *Factory) color(terminal bool) bool {
	switch f.Color {
	case "always":
		return true
	case "never":
		return false
	}
	return f.Streams.Getenv("NO_COLOR") == "" && f.Streams.Getenv("TERM") != "dumb" && terminal
}

// Redraws reports whether text on stdout may be drawn over: a terminal is there that
// moves its cursor.
func (f *Factory) Redraws() bool {
	return f.Streams.OutTTY && f.Streams.Size != nil && f.Streams.Getenv("TERM") != "dumb"
}

// ASCII reports whether a terminal can show no more than ASCII: by its locale, as the
// first of the variables says that is set, or because it is the Linux console.
func ASCII(getenv func(string) string) bool {
	if t := getenv("TERM"); t == "linux" || t == "dumb" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale := strings.ToLower(getenv(name)); locale != "" {
			return !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
		}
	}
	return false
}

// spared is how far the heap may grow over what is in use, in percent, before the
// collector comes: by itself it comes at 100.
const spared = 50

// Spare reduces the memory of commands that read a whole cluster: most of what they allocate
// is in use for a moment only.
func (f *Factory) Spare() {
	if f.Streams.Environ != nil && f.Streams.Getenv("GOGC") == "" {
		SetHeapGrowth(spared)
	}
}
