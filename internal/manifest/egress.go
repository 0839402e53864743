package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// neverReached are the addresses that no run reaches, whatever the administrator allows: those of one link, by which a
// node's own services listen, and those of the metadata of clouds, which hand out the node's credentials.
var neverReached = []netip.Prefix{
	netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("fe80::/10"),
	netip.MustParsePrefix("64:ff9b::a9fe:0/112"),                                          // the first by NAT64
	netip.MustParsePrefix("fd00:ec2::254/128"), netip.MustParsePrefix("fd20:ce::254/128"), // AWS, Google
	netip.MustParsePrefix("168.63.129.16/32"), netip.MustParsePrefix("100.100.100.200/32"), // Azure, Alibaba
}

// ReadDNS reads the peers of the cluster's DNS, which are a JSON list of NetworkPolicyPeers.
func ReadDNS(text string) ([]networkingv1.NetworkPolicyPeer, error) {
	peers, err := readStrictly[[]networkingv1.NetworkPolicyPeer](text)
	if err != nil {
		return nil, err
	}
	if len(peers) == 0 {
		return nil, errors.New("it has no peer")
	}
	for i := range peers {
		if _, err := blockOf(&peers[i]); err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return peers, nil
}

// ReadEgress reads what the pods of runs reach besides, which is a JSON list of NetworkPolicyEgressRules. It takes
// neverReached out of address blocks, and refuses a block within them.
func ReadEgress(text string) ([]networkingv1.NetworkPolicyEgressRule, error) {
	rules, err := readStrictly[[]networkingv1.NetworkPolicyEgressRule](text)
	if err != nil {
		return nil, err
	}
	for i := range rules {
		if len(rules[i].To) == 0 {
			return nil, fmt.Errorf("[%d].to is empty, which would allow every address: name address blocks or namespaces", i)
		}
		for j := range rules[i].To {
			if err := narrow(&rules[i].To[j]); err != nil {
				return nil, fmt.Errorf("[%d].to[%d]: %w", i, j, err)
			}
		}
	}
	return rules, nil
}

func readStrictly[T any](text string) (value T, err error) {
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(&value); err == nil && decoder.More() {
		err = errors.New("text follows the list")
	}
	return value, err
}

// blockOf returns the address block of a peer, which isn't valid if the peer has selectors instead.
func blockOf(peer *networkingv1.NetworkPolicyPeer) (netip.Prefix, error) {
	switch {
	case peer.IPBlock == nil && peer.PodSelector == nil && peer.NamespaceSelector == nil:
		return netip.Prefix{}, errors.New("it must have ipBlock, podSelector or namespaceSelector")
	case peer.IPBlock == nil:
		return netip.Prefix{}, nil
	case peer.PodSelector != nil || peer.NamespaceSelector != nil:
		return netip.Prefix{}, errors.New("it must not have both ipBlock and a selector")
	}
	block, err := netip.ParsePrefix(peer.IPBlock.CIDR)
	if err != nil || block.Addr().Is4In6() || block != block.Masked() {
		return netip.Prefix{}, fmt.Errorf("ipBlock.cidr is %q: it must be a block such as 10.0.0.0/8", peer.IPBlock.CIDR)
	}
	return block, nil
}

func narrow(peer *networkingv1.NetworkPolicyPeer) error {
	block, err := blockOf(peer)
	if err != nil || !block.IsValid() {
		return err
	}
	for _, never := range neverReached {
		switch {
		case !block.Overlaps(never):
		case never.Bits() <= block.Bits():
			return fmt.Errorf("ipBlock.cidr is %s, which runs must never reach: it is within %s", block, never)
		case !slices.ContainsFunc(peer.IPBlock.Except, func(except string) bool {
			already, err := netip.ParsePrefix(except)
			return err == nil && already.Bits() <= never.Bits() && already.Contains(never.Addr())
		}):
			peer.IPBlock.Except = append(peer.IPBlock.Except, never.String())
		}
	}
	return nil
}

// Allowed reports whether the administrator's rules may let the pods of runs reach a host and port. Of a name it is known
// only that there is a rule.
func (s *Settings) Allowed(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return true // it is refused elsewhere
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return len(s.Egress) > 0
	}
	number, _ := strconv.Atoi(port)
	return slices.ContainsFunc(s.Egress, func(rule networkingv1.NetworkPolicyEgressRule) bool {
		return opensTCP(rule.Ports, number) && slices.ContainsFunc(rule.To, func(peer networkingv1.NetworkPolicyPeer) bool {
			if peer.IPBlock == nil {
				return !ip.IsLinkLocalUnicast() // it may be a Service's or a pod's
			}
			return within(ip, peer.IPBlock.CIDR) && !slices.ContainsFunc(peer.IPBlock.Except, func(except string) bool { return within(ip, except) })
		})
	})
}

func within(ip netip.Addr, cidr string) bool {
	block, err := netip.ParsePrefix(cidr)
	return err == nil && block.Contains(ip.Unmap())
}

func opensTCP(ports []networkingv1.NetworkPolicyPort, number int) bool {
	return len(ports) == 0 || slices.ContainsFunc(ports, func(p networkingv1.NetworkPolicyPort) bool {
		if ptr.Deref(p.Protocol, corev1.ProtocolTCP) != corev1.ProtocolTCP {
			return false
		}
		if p.Port == nil || p.Port.Type == intstr.String {
			return true
		}
		return number >= p.Port.IntValue() && number <= int(ptr.Deref(p.EndPort, p.Port.IntVal))
	})
}
