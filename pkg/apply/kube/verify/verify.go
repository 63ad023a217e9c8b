// Package verify carries out the checks of verify steps outside of the cluster: it runs a
// command, or requests a URL or a query of a Prometheus server. It knows no cluster, and no
// answer contains what could be secret.
package verify

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// Answer is what one attempt has found.
type Answer struct {
	Good bool
	// Text is one line for the user who has asked. It may quote what was answered, so it is not
	// stored.
	Text string
	// Reason is what may be stored, where others read it: words of this program and of the plan, a
	// status or an exit code, and nothing else of what was answered.
	Reason string
}

// said is an answer whose text holds nothing that was answered.
func said(good bool, text string) Answer { return Answer{good, text, text} }

// reason is an error that holds nothing that was answered.
type reason string

// Error is the reason.
func (r reason) Error() string { return string(r) }

// failed is the answer of an attempt that an error has ended.
func failed(err error) Answer {
	a := Answer{Text: truncate(err.Error()), Reason: "no usable answer"}
	if r, ok := errors.AsType[reason](err); ok {
		a.Reason = string(r)
	}
	return a
}

// attemptTimeout is how long an attempt may take.
const attemptTimeout = 30 * time.Second

// Once makes one attempt at a question that is no Job.
func Once(ctx context.Context, v *plan.Verify, may Permissions) Answer {
	ctx, cancel := context.WithTimeoutCause(ctx, attemptTimeout, errAttemptTimeout)
	defer cancel()
	a := attempt(ctx, v, may)
	if !a.Good && errors.Is(context.Cause(ctx), errAttemptTimeout) {
		a = failed(errAttemptTimeout)
	}
	return a
}

var errAttemptTimeout = reason(fmt.Sprintf("no answer within %s", attemptTimeout))

func attempt(ctx context.Context, v *plan.Verify, may Permissions) Answer {
	switch {
	case len(v.Command) > 0 && !may.Commands:
		return failed(errCommand)
	case len(v.Command) > 0:
		return command(ctx, v.Command)
	case v.URL != "":
		return fetch(ctx, may, v)
	case v.Prometheus != "":
		return query(ctx, may, v)
	}
	return said(false, "there is no question")
}

// byDefault is the interval between attempts.
const byDefault = 10 * time.Second

// Until makes attempts until one is good or all have failed, or ctx ends. told is
// called with each that failed and is not the last; n counts from 1.
func Until(ctx context.Context, v *plan.Verify, once func(ctx context.Context, n int) Answer, told func(Answer)) Answer {
	every := time.Duration(v.Every)
	if every <= 0 {
		every = byDefault
	}
	attempts := max(v.Attempts, 1)
	for n := 1; ; n++ {
		a := once(ctx, n)
		switch {
		case a.Good:
			return a
		case attempts > 1:
			at := fmt.Sprintf(" (attempt %d of %d)", n, attempts)
			a.Text, a.Reason = a.Text+at, a.Reason+at
		}
		if n >= attempts || ctx.Err() != nil {
			return a
		}
		told(a)
		if !pause(ctx, every) {
			return a
		}
	}
}

// pause is false when ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Permissions say what a check may do on the machine of the user who carries out a
// rollout. A question may come from a record, an annotation or a file that other people
// can edit, so the zero value permits the least.
type Permissions struct {
	// Commands permits to run programs.
	Commands bool
	// LinkLocal permits to ask link-local addresses and the metadata services of clouds.
	LinkLocal bool
}

// errCommand is the answer where a program may not be run.
const errCommand = reason("the command is not run: it was not named on the command line; --allow-commands permits it")

// metadata are addresses outside of the link-local networks at which clouds serve
// credentials to their machines.
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"),   // AWS
	netip.MustParseAddr("100.100.100.200"), // Alibaba Cloud
	netip.MustParseAddr("168.63.129.16"),   // Azure
	netip.MustParseAddr("192.0.0.192"),     // Oracle Cloud
}

// guarded reports whether a question may not go to an address without [Permissions].
func guarded(a netip.Addr) bool {
	a = embedded(a.Unmap().WithZone(""))
	return a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast() || a.IsUnspecified() || slices.Contains(metadata, a)
}

// errAddress does not name the address: a record is not to show where a name leads.
const errAddress = reason("it is a link-local or metadata address; --allow-link-local permits to ask it")

// maxRedirects is how often an answer may lead on.
const maxRedirects = 5

// Client returns an HTTP client for addresses that a user has named: it connects to none
// that is not permitted, follows no redirect, and takes no longer than that for a request.
func Client(may Permissions, within time.Duration) *http.Client {
	c := client(may)
	c.Timeout = within
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// client asks http and https addresses. It checks the address that is connected to, so
// that no name and no redirect leads to one that is not permitted, and follows redirects
// to the same host only.
func client(may Permissions) *http.Client {
	return newClient(may, http.ProxyFromEnvironment, net.DefaultResolver.LookupNetIP)
}

func newClient(may Permissions, proxy proxyOf, look lookup) *http.Client {
	if !may.LinkLocal {
		proxy = guardedProxy(proxy, look)
	}
	transport := &http.Transport{
		Proxy:                  proxy,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  attemptTimeout,
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: 64 << 10,
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if !may.LinkLocal {
		dialer.Control = func(_, address string, _ syscall.RawConn) error { return checkAddress(address) }
	}
	transport.DialContext = dialer.DialContext
	return &http.Client{
		Transport: transport,
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			switch {
			case len(via) >= maxRedirects:
				return reason(fmt.Sprintf("more than %d redirects", maxRedirects))
			case next.URL.Host != via[0].URL.Host || next.URL.Scheme != via[0].URL.Scheme:
				return reason("it redirects to another host, which is not followed")
			}
			return checkURL(next.URL, may)
		},
	}
}

// checkAddress refuses a "host:port" of a connection.
func checkAddress(address string) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if guarded(to.Addr()) {
		return errAddress
	}
	return nil
}

// checkURL refuses other schemes, and addresses that a proxy would connect to.
func checkURL(u *url.URL, may Permissions) error {
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return reason("only http and https addresses are asked")
	}
	if a, ok := addressOf(u.Hostname()); ok && !may.LinkLocal && guarded(a) {
		return errAddress
	}
	return nil
}
