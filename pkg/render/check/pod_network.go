package check

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

const (
	maxNameservers = 3
	maxSearches    = 32
)

// podNetwork has the rules for the names of a pod, and for how it resolves names.
type podNetwork struct{ *podReporter }

// pod checks the names of the pod, and its DNS settings.
func (p podNetwork) pod(at string, s *corev1.PodSpec) {
	p.dnsLabel(at+".hostname", s.Hostname)
	p.dnsLabel(at+".subdomain", s.Subdomain)
	for i, a := range s.HostAliases {
		here := fmt.Sprintf("%s.hostAliases[%d]", at, i)
		p.address(here+".ip", a.IP)
		for j, host := range a.Hostnames {
			p.subdomain(fmt.Sprintf("%s.hostnames[%d]", here, j), host)
		}
	}
	p.oneOf(at+".dnsPolicy", string(s.DNSPolicy), "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
	p.nameservers(at, s)
	if s.DNSConfig != nil {
		p.resolver(at+".dnsConfig", s.DNSConfig)
	}
}

// resolver checks search domains and options.
func (p podNetwork) resolver(at string, c *corev1.PodDNSConfig) {
	if n := len(c.Searches); n > maxSearches {
		p.fault(at+".searches", "", "%d are more than %d", n, maxSearches)
	}
	for i, domain := range c.Searches {
		domain = strings.TrimSuffix(domain, ".")
		if domain != "" && len(validation.IsDNS1123SubdomainWithUnderscore(domain)) > 0 {
			p.fault(fmt.Sprintf("%s.searches[%d]", at, i), "", "%q is not a domain", domain)
		}
	}
	for i, o := range c.Options {
		p.required(fmt.Sprintf("%s.options[%d].name", at, i), o.Name)
	}
}

func (p podNetwork) nameservers(at string, s *corev1.PodSpec) {
	var servers []string
	if s.DNSConfig != nil {
		servers = s.DNSConfig.Nameservers
	}
	here := at + ".dnsConfig.nameservers"
	switch {
	case s.DNSPolicy == corev1.DNSNone && len(servers) == 0:
		p.fault(here, "", "at least one is required with dnsPolicy None")
	case len(servers) > maxNameservers:
		p.fault(here, "", "%d are more than %d", len(servers), maxNameservers)
	}
	for i, server := range servers {
		p.address(fmt.Sprintf("%s[%d]", here, i), server)
	}
}
