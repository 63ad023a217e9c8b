package verify

import (
	"context"
	"encoding/binary"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A proxy connects in the place of this process, so the address that is connected to cannot be
// checked: the host itself has to be.

// proxyOf is the proxy for a request; nil for none.
type proxyOf func(*http.Request) (*url.URL, error)

// lookup returns the addresses of a name.
type lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

// guardedProxy is a proxy that is not asked for a host that is, or leads to, a guarded address. A name
// that is not known here is asked for: behind a proxy, names may be known to the proxy alone.
func guardedProxy(proxy proxyOf, look lookup) proxyOf {
	return func(r *http.Request) (*url.URL, error) {
		to, err := proxy(r)
		if to == nil || err != nil {
			return to, err
		}
		host := strings.ToLower(strings.TrimSuffix(r.URL.Hostname(), "."))
		if a, ok := addressOf(host); ok {
			return to, refused(guarded(a))
		}
		if metadataName(host) {
			return nil, errAddress
		}
		list, _ := look(r.Context(), "ip", host)
		return to, refused(slices.ContainsFunc(list, guarded))
	}
}

func refused(is bool) error {
	if is {
		return errAddress
	}
	return nil
}

// metadataNames are names under which clouds serve credentials to their machines.
var metadataNames = []string{"metadata", "metadata.goog", "metadata.google.internal", "instance-data", "instance-data.ec2.internal"}

// spelledAddress are four numbers in a name, as services write them that resolve such names to the
// address in them.
var spelledAddress = regexp.MustCompile(`(?:^|[.-])(\d{1,3})[.-](\d{1,3})[.-](\d{1,3})[.-](\d{1,3})(?:[.-]|$)`)

// spelledHex is such an address in hexadecimal digits.
var spelledHex = regexp.MustCompile(`(?:^|[.-])([0-9a-f]{8})(?:[.-]|$)`)

// metadataName reports whether a name is one of a metadata service, or has a guarded address in it.
// A name that is not ASCII may become any other.
func metadataName(host string) bool {
	if slices.Contains(metadataNames, host) || strings.ContainsFunc(host, func(r rune) bool { return r > '~' }) {
		return true
	}
	for _, m := range spelledAddress.FindAllStringSubmatch(host, -1) {
		if a, ok := addressOf(strings.Join(m[1:], ".")); ok && guarded(a) {
			return true
		}
	}
	for _, m := range spelledHex.FindAllStringSubmatch(host, -1) {
		if a, ok := addressOf("0x" + m[1]); ok && guarded(a) {
			return true
		}
	}
	return false
}

// addressOf reads a host that is an address, in any way that resolvers read: with one to four
// numbers, each decimal, octal or hexadecimal, the last of which fills the rest.
func addressOf(host string) (netip.Addr, bool) {
	host = strings.TrimSuffix(host, ".")
	if a, err := netip.ParseAddr(host); err == nil {
		return a, true
	}
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var address uint64
	for i, part := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		// Base 0 reads 0x and 0, and also what no resolver does: 0b, 0o and digits with _.
		if strings.ContainsAny(part, "_bBoO+-") && !strings.HasPrefix(strings.ToLower(part), "0x") {
			return netip.Addr{}, false
		}
		n, err := strconv.ParseUint(part, 0, bits)
		if err != nil {
			return netip.Addr{}, false
		}
		address = address<<bits | n
	}
	return netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, uint32(address)))), true
}

// embeddings are networks of IPv6 with an address of IPv4 in them, and at which byte that begins.
var embeddings = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("::/96"), 12},          // IPv4-compatible
	{netip.MustParsePrefix("64:ff9b::/96"), 12},   // NAT64
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12}, // NAT64, local
	{netip.MustParsePrefix("2002::/16"), 2},       // 6to4
}

// embedded is the address of IPv4 in one of IPv6; the address itself where there is none.
func embedded(a netip.Addr) netip.Addr {
	for _, e := range embeddings {
		if a.Is6() && !a.IsUnspecified() && a != netip.IPv6Loopback() && e.prefix.Contains(a) {
			b := a.As16()
			return netip.AddrFrom4([4]byte(b[e.at : e.at+4]))
		}
	}
	return a
}
