package shell

import "github.com/umpirehq/umpire"

// cryptoTools are the programs that encrypt, sign and look at keys.
var cryptoTools = []program{
	{
		names: "openssl", risk: umpire.Medium, consequence: reversible, why: "works on keys and certificates",
		style: words, about: "-help --help",
		subs: []program{
			// safe: openssl version
			{
				names: "version ciphers list help", each: true, risk: umpire.Safe, why: "prints what it knows",
				style: words, opts: []option{
					{flags: "-a -v -V -d -e -m -p -b -commands -digest-commands -cipher-commands -digest-algorithms " +
						"-cipher-algorithms -s -tls1_2 -tls1_3"},
				},
			},
			{
				names: "x509 req crl verify asn1parse", each: true, risk: umpire.Safe, why: "looks at a certificate",
				style: words, args: "read…", opts: []option{
					{flags: "-noout -text -subject -issuer -dates -startdate -enddate -fingerprint -serial -hash " +
						"-subject_hash -issuer_hash -purpose -pubkey -modulus -email -ocsp_uri -sha1 -sha256 -sha512 " +
						"-md5 -verify -verbose -show_chain -i -dump -nocert", values: "-inform -outform -nameopt " +
						"-certopt -ext -checkend -checkhost -strparse -offset -length", does: plain},
					{values: "-in -CAfile -untrusted -trusted -CApath -crl -CRLfile", does: reads},
					{values: "-out", does: writes},
				},
			},
			{
				names: "dgst md5 sha1 sha224 sha256 sha384 sha512 sha3-256 blake2b512", each: true, risk: umpire.Safe,
				why: "prints checksums", style: words, args: "read…", opts: []option{
					{flags: "-md5 -sha1 -sha224 -sha256 -sha384 -sha512 -sha3-256 -sha3-512 -blake2b512 -hex -binary " +
						"-r -c -list", values: "-hmac", does: plain},
					{values: "-verify -prverify -signature", does: reads}, {values: "-out", does: writes},
				},
			},
			{names: "rand prime", each: true, risk: umpire.Safe, why: "prints random bytes", style: words,
				opts: []option{
					{flags: "-hex -base64 -generate", values: "-bits", does: plain},
					{values: "-out -writerand", does: writes},
				}},
			{names: "base64", risk: umpire.Safe, why: "encodes", style: words, args: "none",
				opts: []option{{flags: "-d -e -A -a"}, {values: "-in", does: reads}, {values: "-out", does: writes}}},
			{
				names: "s_client s_server s_time ocsp ts cmp", each: true, risk: umpire.High, consequence: sent,
				why: "opens a connection", style: words, lax: true, out: fromNetwork, opts: []option{
					{values: "-connect -host -proxy -url -server", does: reaches, why: "opens a connection to it"},
					{values: "-in -CAfile -cert -key", does: reads}, {values: "-out", does: writes},
				},
			},
			// asks: openssl genrsa -out k
			{
				names: "enc rsa rsautl pkey pkeyutl pkcs8 pkcs12 pkcs7 genrsa genpkey gendsa ec ecparam dsa dh " +
					"dhparam passwd ca cms smime speed spkac",
				each: true, risk: umpire.Medium, consequence: reversible, why: "works on keys", style: words, lax: true,
				opts: []option{
					{values: "-in -inkey -certfile -kfile -sigfile", does: reads},
					{values: "-out -keyout -writerand", does: writes},
					{values: "-engine -provider -provider-path -config", does: obeys, why: "loads code that it names"},
				},
			},
		},
	},
	// safe: gpg --version
	// asks: gpg -d a
	{names: "gpg gpg2", risk: umpire.Safe, why: "looks at keys and signatures", check: checkGPG, opts: []option{
		{flags: "--verify --list-keys --list-public-keys --list-secret-keys --list-sigs --check-sigs --fingerprint " +
			"--list-packets --show-keys -k -K", why: "looks"},
		{flags: "--with-colons --with-fingerprint --with-subkey-fingerprint --armor -a --batch --no-tty --quiet -q " +
			"-v --verbose --no-auto-key-locate --no-auto-key-retrieve --with-keygrip",
			values: "--keyid-format --status-fd", does: plain},
		{flags: "--no-default-keyring", values: "--keyring", does: asks, consequence: sent, why: "trusts other keys"},
		{values: "-o --output", does: writes},
		{flags: "-e --encrypt -s --sign -b --detach-sign --clearsign --clear-sign -d --decrypt -c --symmetric " +
			"--dearmor --enarmor --import --quick-generate-key --gen-key --full-generate-key --edit-key",
			values: "-r --recipient -u --local-user --passphrase", does: asks, consequence: lost,
			why: "works on keys or secrets"},
		{flags: "--delete-key --delete-keys --delete-secret-keys --send-keys --recv-keys --refresh-keys " +
			"--search-keys --export-secret-keys --export-secret-subkeys --export", values: "--keyserver", does: harms,
			consequence: lost, why: "hands out, fetches or deletes keys"},
	}, about: "--version --help -h"},
	// safe: gpgv --keyring keys a.sig a
	// asks: gpgv --keyring /etc/keys a.sig
	{names: "gpgv", risk: umpire.Safe, why: "checks signatures", args: "read…", about: aboutItself, opts: []option{
		{flags: "-q -v --quiet --verbose --ignore-time-conflict"}, {values: "--keyring", does: reads},
		{values: "--status-fd --logger-fd --weak-digest", does: plain},
	}},
	{
		names: "age age-keygen rage sops pass secret-tool security keyring keytool certbot mkcert step vault op bw " +
			"gpgconf gpg-agent minisign signify cosign gopass chamber doppler",
		risk: umpire.High, consequence: lost, why: "works on keys or secrets", lax: true,
		about: "--version --help -h", opts: []option{
			{values: "-o --output", does: writes},
			{values: "-i --identity", does: reads},
		},
	},
}

// checkGPG makes gpg ask unless it only looks.
func checkGPG(u *use) {
	looks := u.got("--verify") != nil
	files := looks || u.got("--decrypt", "--encrypt") != nil
	for _, operand := range u.operands {
		if files {
			u.touch(umpire.KindRead, operand, accessOf{})
		}
	}
	u.operands = nil
	if !looks {
		u.raise(umpire.Medium, "works on keys")
	}
}
