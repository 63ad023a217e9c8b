// Package webhook serves what a test cluster's API server asks for: conversion
// and admission, over TLS on loopback.
package webhook

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubectl-kruise/kubectl-kruise/test/cluster"
	"github.com/kubectl-kruise/kubectl-kruise/test/cluster/pki"
)

// Server is where the API server finds the answers.
type Server struct {
	// URL is without a path.
	URL string
	// CA signed the server's certificate, as PEM.
	CA []byte
}

// Serve answers the API server's questions until the context ends.
func Serve(ctx context.Context, c *cluster.Cluster, handler http.Handler) (*Server, error) {
	pair, err := c.Issue(pki.Subject{Name: "webhooks", Hosts: []string{"127.0.0.1"}})
	if err != nil {
		return nil, err
	}
	own, err := pair.TLS()
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(filepath.Join(c.Folder(), "ca.crt"))
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, TLSConfig: &tls.Config{
		Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12,
	}}
	go func() { _ = server.ServeTLS(l, "", "") }()
	context.AfterFunc(ctx, func() { _ = server.Close() })
	return &Server{URL: "https://" + l.Addr().String(), CA: ca}, nil
}

// Client is how an admission webhook finds a path of the server.
func (s *Server) Client(path string) admissionregistrationv1.WebhookClientConfig {
	return admissionregistrationv1.WebhookClientConfig{URL: new(s.URL + path), CABundle: s.CA}
}

// Answer reads a review, has it answered and writes it back.
func Answer[R any](review func(context.Context, *R)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		in := new(R)
		if err := json.NewDecoder(r.Body).Decode(in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review(r.Context(), in)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(in)
	}
}
