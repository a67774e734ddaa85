package egress

import "github.com/umpirehq/umpire"

// A Reason explains the end of a connection that was refused or cut. The zero value explains nothing.
type Reason int

// The reasons.
const (
	NotListed        Reason = iota + 1 // no entry covers the host
	PortNotListed                      // an entry covers the host with another port
	RandomName                         // a wildcard covers the name, which may carry data
	ManyNames                          // a wildcard covers the name, and the command used many below it
	OverQuota                          // the command sent too much
	ManyQuestions                      // the person would be asked too often
	NotPermitted                       // an entry covers it, and a rule of the person does not permit it
	PrivateAddress                     // the address belongs to this machine, its network or no network
	MetadataAddress                    // the address hands out credentials of a cloud
	NoHostKey                          // a server of SSH whose key is not pinned
	NoAddress                          // the name has no address
	Unreachable                        // the connection failed
	OtherServerName                    // the client hello of TLS names another server
	NoServerName                       // the client hello names no server
	HiddenServerName                   // the client hello hides a name in a way that no usual client does
	BadHello                           // the client hello breaks its format
	OtherHost                          // an HTTP request names another host
	BadRequest                         // an HTTP request that programs may read in different ways
	BadResponse                        // an answer in a form other than HTTP
	NotFetching                        // a request sends something to a host that is only fetched from
	NotTrusted                         // this machine does not trust the destination's certificate
	NotWeb                             // a protocol other than TLS and HTTP on one of their ports
	BadDemand                          // the proxy cannot read the name of the destination
	ManyConnections                    // the command has too many connections at once
	TooSlow                            // the command did not send its request in time
	Idle                               // nothing was sent either way for too long
	NotLeased                          // a request to a leased host that neither a lease nor the list covers
	MisplacedSecret                    // a secret's placeholder or a key, used for something else
)

// Say returns the reason as a sentence without a full stop, or "" for 0.
func (r Reason) Say(d Destination) umpire.Phrase {
	to := d.short()
	switch r {
	case NotListed:
		return umpire.Say("%s isn't one of the destinations you listed", to)
	case PortNotListed:
		return umpire.Say("%s is listed, but not with port %d", d.Host, d.Port)
	case RandomName:
		return umpire.Say("%s may carry data in its name, so a wildcard doesn't cover it", to)
	case ManyNames:
		return umpire.Say("the command used too many names below the wildcard that covers %s", to)
	case OverQuota:
		return umpire.Say("the command has sent as much to %s as it may", to)
	case ManyQuestions:
		return umpire.Say("the command tried too many destinations that you didn't list, such as %s", to)
	case NotPermitted:
		return umpire.Say("%s is listed, but your rules or settings ask about it", to)
	case PrivateAddress:
		return umpire.Say("%s leads into this machine or its network; list the address itself to allow it", to)
	case MetadataAddress:
		return umpire.Say("%s leads to the service that hands out this machine's cloud credentials", to)
	case NoAddress:
		return umpire.Say("no address was found for %s", to)
	case Unreachable:
		return umpire.Say("%s could not be reached", to)
	case ManyConnections:
		return umpire.Say("the command has too many connections at once")
	case TooSlow:
		return umpire.Say("the command took too long to send its request")
	case Idle:
		return umpire.Say("nothing was sent to or from %s for too long", to)
	case NotLeased:
		return umpire.Say("the leases for %s don't cover this request", to)
	case MisplacedSecret:
		return umpire.Say("a request to %s uses a secret in a way that its lease doesn't permit", to)
	case NoHostKey:
		return umpire.Say("your known_hosts files have no key of %s; connect to it once outside of a trial", to)
	case OtherServerName, NoServerName, HiddenServerName, BadHello, OtherHost, BadRequest, BadResponse, NotWeb,
		NotFetching, NotTrusted, BadDemand:
		return r.sayProtocol(to)
	}
	return ""
}

// sayProtocol is the part of Say about the first words of a connection.
func (r Reason) sayProtocol(to string) umpire.Phrase {
	switch r { //nolint:exhaustive // the others are said by Say
	case OtherServerName:
		return umpire.Say("the TLS handshake with %s names another server", to)
	case NoServerName:
		return umpire.Say("the TLS handshake with %s names no server", to)
	case HiddenServerName:
		return umpire.Say("the TLS handshake with %s hides the name of its server", to)
	case BadHello:
		return umpire.Say("the TLS handshake with %s could not be read", to)
	case OtherHost:
		return umpire.Say("a request to %s names another host", to)
	case BadRequest:
		return umpire.Say("a request to %s has more than one meaning", to)
	case BadResponse:
		return umpire.Say("an answer of %s could not be read", to)
	case NotFetching:
		return umpire.Say("commands may only fetch from %s, and this one wanted to send something", to)
	case NotTrusted:
		return umpire.Say("this machine does not trust the certificate of %s", to)
	case NotWeb:
		return umpire.Say("a protocol other than TLS and HTTP was spoken to %s", to)
	}
	return umpire.Say("the proxy could not read which destination the command wants")
}

// denies reports whether the reason is about the destination, as opposed to a failure.
func (r Reason) denies() bool { return NotListed <= r && r <= NoHostKey }

// MayBeSettled reports whether an earlier approval of the destination settles the reason.
func (r Reason) MayBeSettled() bool { return r == NotListed || r == NotPermitted }

// status returns the HTTP status for the reason.
func (r Reason) status() int {
	switch r { //nolint:exhaustive // all others are refusals
	case NoAddress, Unreachable, BadResponse, NotTrusted:
		return 502
	case BadRequest, BadDemand:
		return 400
	case ManyConnections:
		return 503
	case TooSlow, Idle:
		return 408
	}
	return 403
}
