// Package egress serves the network connections of one command in a sandbox without a network.
//
//	list, err := egress.ParseList([]string{"npm", "db.example.com:5432"})
//	proxy := &egress.Proxy{List: list, Ask: ask, Record: record}
//	go proxy.ServeProxy(ctx, conn)     // a program that honours HTTPS_PROXY
//	go proxy.ServeDirect(ctx, conn, d) // a program that connected by itself
//
// Guarantees:
//
//   - Only destinations that a person listed, or allowed when asked, are reached. For any other not one byte leaves,
//     not even a query for its name. Zero values, errors and doubt refuse.
//   - A name is resolved once, and the connection goes to the address that was checked. Addresses of this machine,
//     its network and its cloud are refused, unless a person listed the address itself.
//   - TLS names the destination as its server, and so does each request of plain HTTP. Ports 80 and 443 carry nothing
//     else.
//   - Each entry of the list has a quota of bytes that may be sent, for all its connections together.
//   - A connection ends with its context, and none holds up another.
//   - A server on the port of SSH is reached only if the person's known_hosts files pin its key. The command's agent
//     lets the person's own sign nothing but requests to sign in to a session with such a server, which the server has
//     signed with its key, while the command is connected to it.
//
// These ways out remain:
//
//   - Data that a listed destination accepts, up to the quota: an upload, an issue, a published package.
//   - Names and requests inside TLS are not seen. A listed server that also serves others, such as a content network,
//     may be asked for one of them inside (domain fronting). So may a listed server that passes connections on.
//   - An encrypted client hello looks like the filler that browsers send, even if it hides the name of another site
//     of the same server.
//   - Bits in the timing and choice of listed destinations, and in at most maxNames short names below each wildcard.
//   - On a listed port other than 80 and 443, a protocol other than TLS and HTTP passes unread.
//   - A server at which a command signed in does all that the key permits there, and passes connections on.
//   - A pinned server that conspires with the command may sign the session of another server. The agent's signature for
//     it is of use at servers that the key is also for, unless the client names the server's key in its request
//     (publickey-hostbound-v00@openssh.com), as OpenSSH does with servers that know it.
package egress
