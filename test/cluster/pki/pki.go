// Package pki makes the certificates of a test cluster in process.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"time"
)

// lifetime outlasts every test and every playground.
const lifetime = 30 * 24 * time.Hour

// Authority signs the certificates of one cluster.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	// Pair is the authority's own certificate and key.
	Pair Pair
}

// Pair is a certificate and its private key, PEM encoded.
type Pair struct{ Cert, Key []byte }

// Subject says for whom a certificate is and which addresses it serves. One
// without addresses is a client's.
type Subject struct {
	Name   string
	Groups []string
	Hosts  []string
}

// New makes an authority.
func New() (*Authority, error) {
	template, err := blank("test-cluster")
	if err != nil {
		return nil, err
	}
	template.IsCA = true
	template.BasicConstraintsValid = true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	a := &Authority{cert: template}
	a.Pair, a.key, err = a.sign(template)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(a.Pair.Cert)
	a.cert, err = x509.ParseCertificate(block.Bytes)
	return a, err
}

// Issue makes a certificate for the subject.
func (a *Authority) Issue(s Subject) (Pair, error) {
	template, err := blank(s.Name)
	if err != nil {
		return Pair{}, err
	}
	template.Subject.Organization = s.Groups
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	for _, h := range s.Hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	if len(s.Hosts) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	pair, _, err := a.sign(template)
	return pair, err
}

// Pool trusts this authority alone.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// TLS is the pair as Go's servers and clients take it.
func (p Pair) TLS() (tls.Certificate, error) { return tls.X509KeyPair(p.Cert, p.Key) }

// Write stores the pair as base.crt and base.key.
func (p Pair) Write(base string) error {
	if err := os.WriteFile(base+".crt", p.Cert, 0o600); err != nil {
		return err
	}
	return os.WriteFile(base+".key", p.Key, 0o600)
}

// sign makes a key for the template and signs both, by itself while the
// authority has no key yet.
func (a *Authority) sign(template *x509.Certificate) (Pair, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, nil, err
	}
	signer := a.key
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, signer)
	if err != nil {
		return Pair{}, nil, err
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return Pair{}, nil, err
	}
	return Pair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}),
	}, key, nil
}

// blank is a template with what all certificates share. It is valid from an hour
// ago, for clocks that were set back.
func blank(name string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(lifetime),
	}, nil
}
