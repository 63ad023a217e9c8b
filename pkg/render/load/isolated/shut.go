package isolated

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
)

// errNetwork is what every connection of an isolated process fails with.
var errNetwork = errors.New("rendering opens no connection")

// shut closes the ways out of the process: to a network, to programs, and to files that
// are not in the folder.
func shut(folder string) error {
	http.DefaultTransport = refusal{}
	http.DefaultClient = &http.Client{Transport: refusal{}}
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errNetwork }}
	return confine(folder)
}

// refusal is an HTTP transport that has no network.
type refusal struct{}

var asked struct {
	sync.Mutex
	urls []string
}

// mostAsked bounds the addresses that are remembered.
const mostAsked = 100

// RoundTrip remembers what was asked for and refuses it.
func (refusal) RoundTrip(r *http.Request) (*http.Response, error) {
	asked.Lock()
	defer asked.Unlock()
	if len(asked.urls) < mostAsked {
		asked.urls = append(asked.urls, r.URL.String())
	}
	return nil, errNetwork
}

// Asked are the addresses that this process has asked for, and did not reach.
func Asked() []string {
	asked.Lock()
	defer asked.Unlock()
	return asked.urls
}
