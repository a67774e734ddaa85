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
					{names: "-a -v -V -d -e -m -p -b -commands -digest-commands -cipher-commands -digest-algorithms " +
						"-cipher-algorithms -s -tls1_2 -tls1_3"},
				},
			},
			{
				names: "x509 req crl verify asn1parse", each: true, risk: umpire.Safe, why: "looks at a certificate",
				style: words, args: "read…", opts: []option{
					{names: "-noout -text -subject -issuer -dates -startdate -enddate -fingerprint -serial -hash " +
						"-subject_hash -issuer_hash -purpose -pubkey -modulus -email -ocsp_uri -inform= -outform= " +
						"-nameopt= -certopt= -ext= -sha1 -sha256 -sha512 -md5 -checkend= -checkhost= -verify " +
						"-verbose -show_chain -i -dump -strparse= -offset= -length= -nocert", does: plain},
					{names: "-in= -CAfile= -untrusted= -trusted= -CApath= -crl= -CRLfile=", does: reads},
					{names: "-out=", does: writes},
				},
			},
			{
				names: "dgst md5 sha1 sha224 sha256 sha384 sha512 sha3-256 blake2b512", each: true, risk: umpire.Safe,
				why: "prints checksums", style: words, args: "read…", opts: []option{
					{names: "-md5 -sha1 -sha224 -sha256 -sha384 -sha512 -sha3-256 -sha3-512 -blake2b512 -hex -binary " +
						"-r -c -hmac= -list", does: plain},
					{names: "-verify= -prverify= -signature=", does: reads}, {names: "-out=", does: writes},
				},
			},
			{names: "rand prime", each: true, risk: umpire.Safe, why: "prints random bytes", style: words,
				opts: []option{{names: "-hex -base64 -generate -bits=", does: plain},
					{names: "-out= -writerand=", does: writes}}},
			{names: "base64", risk: umpire.Safe, why: "encodes", style: words, args: "none",
				opts: []option{{names: "-d -e -A -a"}, {names: "-in=", does: reads}, {names: "-out=", does: writes}}},
			{
				names: "s_client s_server s_time ocsp ts cmp", each: true, risk: umpire.High, consequence: sent,
				why: "opens a connection", style: words, lax: true, out: fromNetwork, opts: []option{
					{names: "-connect= -host= -proxy= -url= -server=", does: reaches, why: "opens a connection to it"},
					{names: "-in= -CAfile= -cert= -key=", does: reads}, {names: "-out=", does: writes},
				},
			},
			// asks: openssl genrsa -out k
			{
				names: "enc rsa rsautl pkey pkeyutl pkcs8 pkcs12 pkcs7 genrsa genpkey gendsa ec ecparam dsa dh " +
					"dhparam passwd ca cms smime speed spkac",
				each: true, risk: umpire.Medium, consequence: reversible, why: "works on keys", style: words, lax: true,
				opts: []option{
					{names: "-in= -inkey= -certfile= -kfile= -sigfile=", does: reads},
					{names: "-out= -keyout= -writerand=", does: writes},
					{names: "-engine= -provider= -provider-path= -config=", does: obeys,
						why: "loads code that it names"},
				},
			},
		},
	},
	// safe: gpg --version
	// asks: gpg -d a
	{names: "gpg gpg2", risk: umpire.Safe, why: "looks at keys and signatures", check: checkGPG, opts: []option{
		{names: "--verify --list-keys --list-public-keys --list-secret-keys --list-sigs --check-sigs --fingerprint " +
			"--list-packets --show-keys -k -K", why: "looks"},
		{names: "--with-colons --keyid-format= --with-fingerprint --with-subkey-fingerprint --armor -a --batch " +
			"--no-tty --quiet -q -v --verbose --no-auto-key-locate --no-auto-key-retrieve --status-fd= --with-keygrip",
			does: plain},
		{names: "--keyring= --no-default-keyring", does: asks, consequence: sent, why: "trusts other keys"},
		{names: "-o= --output=", does: writes},
		{names: "-e --encrypt -s --sign -b --detach-sign --clearsign --clear-sign -d --decrypt -c --symmetric -r= " +
			"--recipient= -u= --local-user= --passphrase= --dearmor --enarmor --import --quick-generate-key " +
			"--gen-key --full-generate-key --edit-key", does: asks, consequence: lost, why: "works on keys or secrets"},
		{names: "--delete-key --delete-keys --delete-secret-keys --send-keys --recv-keys --keyserver= --refresh-keys " +
			"--search-keys --export-secret-keys --export-secret-subkeys --export", does: harms, consequence: lost,
			why: "hands out, fetches or deletes keys"},
	}, about: "--version --help -h"},
	// safe: gpgv --keyring keys a.sig a
	// asks: gpgv --keyring /etc/keys a.sig
	{names: "gpgv", risk: umpire.Safe, why: "checks signatures", args: "read…", about: aboutItself, opts: []option{
		{names: "-qv --quiet --verbose --ignore-time-conflict"}, {names: "--keyring=", does: reads},
		{names: "--status-fd= --logger-fd= --weak-digest=", does: plain},
	}},
	{
		names: "age age-keygen rage sops pass secret-tool security keyring keytool certbot mkcert step vault op bw " +
			"gpgconf gpg-agent minisign signify cosign gopass chamber doppler",
		risk: umpire.High, consequence: lost, why: "works on keys or secrets", lax: true,
		about: "--version --help -h", opts: []option{
			{names: "-o= --output=", does: writes},
			{names: "-i= --identity=", does: reads},
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
