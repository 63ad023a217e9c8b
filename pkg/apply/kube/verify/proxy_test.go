package verify

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"testing"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/plan"
)

// TestClient_KeepsLinkLocalClosedBehindAProxy: no spelling and no name of a metadata service is asked of a proxy.
func TestClient_KeepsLinkLocalClosedBehindAProxy(t *testing.T) {
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked = append(asked, r.Host) }))
	defer proxy.Close()
	through := func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) }
	names := map[string]string{"innocent.example.com": "169.254.169.254", "six.example.com": "fe80::1", "shop.example.com": "10.0.0.7"}
	look := func(_ context.Context, _, host string) ([]netip.Addr, error) {
		if a, ok := names[host]; ok {
			return []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr(a)}, nil
		}
		return nil, errors.New("no such host")
	}
	get := func(may Permissions, address string) error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		res, err := newClient(may, through, look).Do(req)
		if err != nil {
			return withoutAddress(err)
		}
		return res.Body.Close()
	}
	for _, address := range []string{
		"http://169.254.169.254/", "http://169.254.169.254./", "http://2852039166/", "http://0xA9FEA9FE/", "http://0251.0376.0251.0376/", "http://169.254.43518/",
		"http://169.16689662/", "http://0xa9.254.0251.254/", "http://[::ffff:a9fe:a9fe]/", "http://[::a9fe:a9fe]/", "http://[64:ff9b::169.254.169.254]/",
		"http://[2002:a9fe:a9fe::1]/", "http://[fd00:ec2::254]/", "http://metadata.google.internal/computeMetadata/v1/", "http://METADATA.google.internal./",
		"http://169.254.169.254.nip.io/", "http://www.169-254-169-254.sslip.io/", "http://a9fea9fe.nip.io/", "http://innocent.example.com/", "http://six.example.com/",
		"http://\uff11\uff16\uff19.254.169.254/", "http://0/", "http://100.100.100.200/",
	} {
		if err := get(Permissions{}, address); !errors.Is(err, errAddress) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if len(asked) > 0 {
		t.Errorf("the proxy was asked for %q", asked)
	}
	for _, address := range []string{"http://shop.example.com/", "http://unknown.example.com/", "http://10.0.0.1/", "http://1.2.3.4.nip.io/", "http://deadbeef.example.com/", "http://[2001:db8::1]/"} {
		asked = nil
		if err := get(Permissions{}, address); err != nil || len(asked) != 1 {
			t.Errorf("%s: %v, asked for %q", address, err, asked)
		}
	}
	asked = nil
	if err := get(Permissions{LinkLocal: true}, "http://169.254.169.254/"); err != nil || len(asked) != 1 {
		t.Errorf("with permission: %v, asked for %q", err, asked)
	}
}

// TestAddressOf_ReadsWhatResolversRead holds spellings of addresses against what inet_aton makes of them.
func TestAddressOf_ReadsWhatResolversRead(t *testing.T) {
	for host, want := range map[string]string{
		"1.2.3.4": "1.2.3.4", "1.2.3": "1.2.0.3", "1.2": "1.0.0.2", "1": "0.0.0.1", "0x7f.1": "127.0.0.1", "017700000001": "127.0.0.1", "4294967295": "255.255.255.255",
		"4294967296": "", "1.2.3.256": "", "1.2.3.4.5": "", "0b1": "", "0o17": "", "1_0": "", "+1": "", "a.b": "", "": "", "08": "", "0xab.0xBC.1": "171.188.0.1",
	} {
		got := ""
		if a, ok := addressOf(host); ok {
			got = a.String()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
	}
	for _, address := range []string{"http://2852039166/", "http://0xA9FEA9FE/", "http://[64:ff9b::a9fe:a9fe]/"} {
		if a := Once(t.Context(), &plan.Verify{URL: address}, Permissions{}); a.Reason != string(errAddress) {
			t.Errorf("%s: %+v", address, a)
		}
	}
}
