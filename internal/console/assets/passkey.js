// Passkeys: the gate hands out a challenge, and the browser asks the person for a fingerprint, a face
// or a code of the device. Bytes are in base64 on the way.
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
export const url = (text) => bytes(text.replaceAll("-", "+").replaceAll("_", "/"));
export const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));
const known = (keys) => (keys ?? []).map((id) => ({ type: "public-key", id: bytes(id) }));

// assert makes an assertion for a challenge.
export async function assert({ challenge, site, keys }) {
  const made = await navigator.credentials.get({
    publicKey: { challenge: url(challenge), rpId: site, allowCredentials: known(keys), userVerification: "required" },
  });
  return {
    id: text(made.rawId), client_data: text(made.response.clientDataJSON),
    auth_data: text(made.response.authenticatorData), signature: text(made.response.signature),
  };
}

// register makes a passkey.
export async function register({ challenge, site, keys, algorithms }, name) {
  const made = await navigator.credentials.create({
    publicKey: {
      challenge: url(challenge), rp: { id: site, name: "umpire" },
      user: { id: crypto.getRandomValues(new Uint8Array(16)), name: name || "umpire", displayName: name || "umpire" },
      pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key", alg })),
      excludeCredentials: known(keys), attestation: "none",
      authenticatorSelection: { userVerification: "required", residentKey: "preferred" },
    },
  });
  return {
    id: text(made.rawId), public: text(made.response.getPublicKey()),
    client_data: text(made.response.clientDataJSON), auth_data: text(made.response.getAuthenticatorData()),
  };
}
