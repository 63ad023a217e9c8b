package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"

	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/kubectl-kruise/kubectl-kruise/pkg/render"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/emit"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/load"
	"github.com/kubectl-kruise/kubectl-kruise/pkg/render/stage"
)

// works are what a child process can be told to do with a file. All of them
// read it whole, hold all objects, and print to out.
var works = map[string]func(file string, out io.Writer) error{
	"render":        renderFile,
	"load-emit":     loadEmit,
	"parse":         parse,
	"plain":         plain,
	"plain-encoder": plainOneEncoder,
	"plain-kio":     plainKio,

	"build":           buildLinear,
	"build-kustomize": buildKustomize,
}

// plainWorks are the ways to read and print with kyaml alone; the ratios are
// taken against the best of them.
var plainWorks = []string{"plain", "plain-encoder", "plain-kio"}

// unbounded is for inputs that are larger than the limits: 20,000 objects with their sidecars.
var unbounded = stage.Limits{OutputNodes: math.MaxInt, OutputBytes: math.MaxInt}

// renderFile is what the render command does.
func renderFile(file string, out io.Writer) error {
	in, err := load.Load(context.Background(), load.Options{Files: []string{file}})
	if err != nil {
		return err
	}
	res, err := render.Render(context.Background(), in, render.Options{Limits: unbounded})
	if err != nil {
		return err
	}
	return emit.Drain(out, res.Resources, unbounded)
}

// loadEmit leaves the engine out and encodes every object.
func loadEmit(file string, out io.Writer) error {
	in, err := load.Load(context.Background(), load.Options{Files: []string{file}})
	if err != nil {
		return err
	}
	for _, r := range in {
		r.Edit()
	}
	return emit.Stream(out, in, unbounded)
}

// parse is the floor of all that reads YAML: each document becomes nodes, once.
func parse(file string, _ io.Writer) error {
	f, err := os.Open(file) //nolint:gosec // the file is our own
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	for d := yaml.NewDecoder(f); ; {
		var n yaml.Node
		if err := d.Decode(&n); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func readPlain(file string) ([]*yaml.RNode, error) {
	b, err := os.ReadFile(file) //nolint:gosec // the file is our own
	if err != nil {
		return nil, err
	}
	return (&kio.ByteReader{Reader: bytes.NewReader(b), OmitReaderAnnotations: true}).Read()
}

// plain prints with an encoder per object: the fastest and leanest way.
func plain(file string, out io.Writer) error {
	nodes, err := readPlain(file)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if _, err := io.WriteString(out, "---\n"); err != nil {
			return err
		}
		if err := yaml.NewEncoder(out).Encode(n.YNode()); err != nil {
			return err
		}
	}
	return nil
}

// plainOneEncoder prints with one encoder, which keeps every event until the
// end.
func plainOneEncoder(file string, out io.Writer) error {
	nodes, err := readPlain(file)
	if err != nil {
		return err
	}
	enc := yaml.NewEncoder(out)
	for _, n := range nodes {
		if err := enc.Encode(n.YNode()); err != nil {
			return err
		}
	}
	return enc.Close()
}

// plainKio prints with kio.ByteWriter.
func plainKio(file string, out io.Writer) error {
	nodes, err := readPlain(file)
	if err != nil {
		return err
	}
	return kio.ByteWriter{Writer: out}.Write(nodes)
}
