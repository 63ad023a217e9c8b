package cluster_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// onlyListens checks every listening socket of a victim and its cluster: all must
// be on the addresses given.
func onlyListens(t *testing.T, left trace, addresses ...string) {
	t.Helper()
	own := map[string]bool{}
	for _, p := range append(processes(t, left.Folder), fmt.Sprintf("/proc/%d", left.PID)) {
		links, _ := filepath.Glob(p + "/fd/*")
		for _, l := range links {
			if target, err := os.Readlink(l); err == nil {
				own[strings.Trim(strings.TrimPrefix(target, "socket:"), "[]")] = true
			}
		}
	}
	found := 0
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		for address, inode := range listeners(t, file) {
			if !own[inode] {
				continue
			}
			found++
			if ip := address.Addr().Unmap().String(); !slices.Contains(addresses, ip) {
				t.Errorf("listens on %s", address)
			}
		}
	}
	if found < 6 { // etcd twice, three servers, the modelled or the real node
		t.Errorf("only %d listeners found", found)
	}
}

// listeners reads the kernel's table of sockets: address to inode. Addresses are
// written as words of four bytes in the machine's order.
func listeners(t *testing.T, file string) map[netip.AddrPort]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := map[netip.AddrPort]string{}
	for line := range strings.Lines(string(text)) {
		const listening = "0A"
		f := strings.Fields(line)
		if len(f) < 10 || f[3] != listening {
			continue
		}
		host, port, _ := strings.Cut(f[1], ":")
		bytes, err := hex.DecodeString(host)
		if err != nil {
			t.Fatal(err)
		}
		for word := range slices.Chunk(bytes, 4) {
			binary.NativeEndian.PutUint32(word, binary.BigEndian.Uint32(word))
		}
		ip, _ := netip.AddrFromSlice(bytes)
		number, err := hex.DecodeString(port)
		if err != nil {
			t.Fatal(err)
		}
		out[netip.AddrPortFrom(ip, binary.BigEndian.Uint16(number))] = f[9]
	}
	return out
}

func TestListeners_AreRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tcp")
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 77 1 0 100 0 0 10 0
   1: 0000000000000000FFFF00000100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 78 1 0 100 0 0 10 0
   2: 0100007F:1F91 00000000:0000 01 00000000:00000000 00:00000000 00000000     0        0 79 1 0 100 0 0 10 0
`
	if err := os.WriteFile(file, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	// Maps are compared, not their text: fmt orders addresses by a pointer in them.
	want := map[netip.AddrPort]string{netip.MustParseAddrPort("127.0.0.1:8080"): "77", netip.MustParseAddrPort("[::ffff:127.0.0.1]:80"): "78"}
	if got := listeners(t, file); !maps.Equal(got, want) {
		t.Errorf("listeners = %v, want %v", got, want)
	}
}
