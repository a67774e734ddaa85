// Passkeys: the gate hands out a challenge, and the browser asks the person for a fingerprint, a face
// or a code of the device. Bytes are in base64 on the way.
export const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
export const fromBase64URL = (text) => bytes(text.replaceAll("-", "+").replaceAll("_", "/"));
export const toBase64 = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));
const known = (keys) => (keys ?? []).map((id) => ({ type: "public-key", id: bytes(id) }));

// assert makes an assertion for a challenge.
export async function assert({ challenge, site, keys }) {
  const made = await navigator.credentials.get({
    publicKey: {
      challenge: fromBase64URL(challenge), rpId: site, allowCredentials: known(keys), userVerification: "required",
    },
  });
  return {
    id: toBase64(made.rawId), client_data: toBase64(made.response.clientDataJSON),
    auth_data: toBase64(made.response.authenticatorData), signature: toBase64(made.response.signature),
  };
}

// register makes a passkey. The device shows whose it is where it has several.
export async function register({ challenge, site, keys, algorithms, person }, name) {
  const shown = [person, name].filter(Boolean).join(" · ") || "umpire";
  const made = await navigator.credentials.create({
    publicKey: {
      challenge: fromBase64URL(challenge), rp: { id: site, name: "umpire" },
      user: { id: crypto.getRandomValues(new Uint8Array(16)), name: shown, displayName: shown },
      pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key", alg })),
      excludeCredentials: known(keys), attestation: "none",
      authenticatorSelection: { userVerification: "required", residentKey: "preferred" },
    },
  });
  return {
    id: toBase64(made.rawId), public: toBase64(made.response.getPublicKey()),
    client_data: toBase64(made.response.clientDataJSON), auth_data: toBase64(made.response.getAuthenticatorData()),
  };
}
