// Package trace is kubectl's --v: what client-go does, told on stderr, without what is
// secret. Without the flag nothing of it is heard.
package trace

import (
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

// most is the highest level: bodies as long as they are.
const most = 10

// Off has libraries log nothing: what they say is not written for whoever reads this.
func Off() {
	klog.SetLogger(logr.Discard())
	verbosity(0)
}

func verbosity(level int) {
	fl := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(fl)
	_ = fl.Set("v", strconv.Itoa(level)) // it is a number
}

// AddFlag adds --v, which writes to out from when it is read. It is hidden among
// kubectl's other flags.
func AddFlag(fl *pflag.FlagSet, out io.Writer) {
	fl.Var(&level{out: out}, "v", "log requests to the server on stderr: 6 requests, 7 and headers, 8 and 9 and bodies, 10 in full; values of Secrets are not shown")
	_ = fl.MarkHidden("v")
}

// Args spells kubectl's -v=9 as --v=9, up to a --: in many commands -v is --verbose,
// which takes no number.
func Args(args []string) []string {
	out := append([]string(nil), args...)
	for i, arg := range out {
		if arg == "--" {
			break
		}
		number, ok := strings.CutPrefix(arg, "-v=")
		if n, err := strconv.Atoi(number); ok && err == nil && n > 1 {
			out[i] = "-" + arg
		}
	}
	return out
}

// level is the value of --v.
type level struct {
	n   int
	out io.Writer
}

func (l *level) String() string { return strconv.Itoa(l.n) }

func (*level) Type() string { return "level" }

// Set has libraries log up to a level.
func (l *level) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return fmt.Errorf("%q is not a level: want a number from 0 to %d", text, most)
	}
	if l.n = min(n, most); l.n == 0 {
		Off()
		return nil
	}
	s := &sink{level: l.n, out: &lines{out: l.out}}
	klog.SetLoggerWithOptions(logr.New(s), klog.ContextualLogger(true))
	verbosity(s.asked())
	return nil
}
