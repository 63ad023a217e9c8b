package ask

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"
)

// Permissions say what a question may do on the machine of the person who carries out a
// rollout. A question may come from a record, an annotation or a file that other people
// can edit, so the zero value permits the least.
type Permissions struct {
	// Commands permits to run programs.
	Commands bool
	// LinkLocal permits to ask link-local addresses and the metadata services of clouds.
	LinkLocal bool
}

// errCommand is the answer where a program may not be run.
var errCommand = errors.New("the command is not run: it was not named on the command line; --allow-commands permits it")

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
	a = a.Unmap().WithZone("")
	return a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast() || a.IsUnspecified() || slices.Contains(metadata, a)
}

type addressError struct{ addr netip.Addr }

func (e *addressError) Error() string {
	return fmt.Sprintf("%s is a link-local or metadata address; --allow-link-local permits to ask it", e.addr)
}

// mostRedirects is how often an answer may lead on.
const mostRedirects = 5

// Client returns an HTTP client for addresses that a person has named: it connects to none
// that is not permitted, follows no redirect, and takes no longer than that for a request.
func Client(may Permissions, within time.Duration) *http.Client {
	c := client(may)
	c.Timeout = within
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// client asks http and https addresses. It looks at the address that is connected to, so
// that no name and no redirect leads to one that is not permitted, and follows redirects
// to the same host only.
func client(may Permissions) *http.Client {
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  oneAttempt,
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
			case len(via) >= mostRedirects:
				return fmt.Errorf("more than %d redirects", mostRedirects)
			case next.URL.Host != via[0].URL.Host || next.URL.Scheme != via[0].URL.Scheme:
				return errors.New("it redirects to another host, which is not followed")
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
		return &addressError{to.Addr()}
	}
	return nil
}

// checkURL refuses other schemes, and addresses that a proxy would connect to.
func checkURL(u *url.URL, may Permissions) error {
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("only http and https addresses are asked")
	}
	if a, err := netip.ParseAddr(u.Hostname()); err == nil && !may.LinkLocal && guarded(a) {
		return &addressError{a}
	}
	return nil
}
