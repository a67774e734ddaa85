// Package webcrypto holds the cryptography that the console shares with browsers: passkeys and push messages.
//
// [Party] checks a browser's responses for passkeys: registrations, and assertions made with them
// (https://www.w3.org/TR/webauthn-3/). An assertion counts if it was made for one challenge, on a page of one
// origin, with a registered key, by a person verified by the device, and if the key's counter went on. The package
// does not request attestation and therefore needs no CBOR: browsers also return the public key as SPKI.
//
// [Subscription] builds requests to a browser's push service: a message that only this browser can read (RFC 8291,
// by the encoding aes128gcm of RFC 8188), and the sender's proof (RFC 8292). The push service learns where a message
// goes to, when it was sent and how long it is.
package webcrypto
