// Signs forms with a passkey, and registers passkeys. What is signed is computed here, from what the person sees: the challenge is the
// SHA-256 of the statement, which the server computes again. Without this script, or without passkeys, people sign with `rarely sign`.
(() => {
  "use strict";
  const decode = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));
  const encode = (buffer) => {
    const text = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join("");
    return btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  };

  function say(form, words) {
    const message = form.querySelector("[data-message]");
    message.textContent = words;
    message.hidden = !words;
  }

  // Why passkeys cannot be used here; empty if they can.
  function obstacle(form) {
    if (form.dataset.origin !== location.origin) return "Passkeys of this service work only at " + form.dataset.origin + ". Open this page there.";
    if (!window.PublicKeyCredential || !window.crypto || !crypto.subtle)
      return "This browser does not support passkeys. Use another one, or sign at a shell with `rarely sign`.";
    return "";
  }

  // Each field with its length in bytes before it, as eight bytes.
  async function digest(fields) {
    const parts = fields.flatMap((field) => {
      const text = new TextEncoder().encode(field);
      const length = new DataView(new ArrayBuffer(8));
      length.setUint32(4, text.length);
      return [length.buffer, text];
    });
    return crypto.subtle.digest("SHA-256", await new Blob(parts).arrayBuffer());
  }

  async function sign(form) {
    const { act, policy, subject, signer, rpId, credentials } = form.dataset;
    const field = (name) => form.elements.namedItem(name);
    for (const name of ["meaning", "reason"]) field(name).value = field(name).value.trim();
    const number = field("to") ? field("to").value : form.dataset.number;
    const statement = [form.dataset.format, act, policy, number, subject, signer, field("meaning").value, field("reason").value];
    const challenge = await digest(statement);
    const allowCredentials = credentials.split(" ").map((id) => ({ type: "public-key", id: decode(id) }));
    const options = { challenge, rpId, allowCredentials, userVerification: "required", timeout: 300000 };
    const { rawId, response } = await navigator.credentials.get({ publicKey: options });
    field("credential").value = encode(rawId);
    field("digest").value = Array.from(new Uint8Array(challenge), (byte) => byte.toString(16).padStart(2, "0")).join("");
    field("client_data").value = encode(response.clientDataJSON);
    field("authenticator_data").value = encode(response.authenticatorData);
    field("signature").value = encode(response.signature);
  }

  async function register(form) {
    const options = JSON.parse(form.dataset.options).publicKey;
    options.challenge = decode(options.challenge);
    options.user.id = decode(options.user.id);
    options.excludeCredentials = (options.excludeCredentials || []).map((one) => ({ ...one, id: decode(one.id) }));
    const made = await navigator.credentials.create({ publicKey: options });
    const response = { attestationObject: encode(made.response.attestationObject), clientDataJSON: encode(made.response.clientDataJSON) };
    form.elements.namedItem("passkey").value = JSON.stringify({ id: made.id, rawId: encode(made.rawId), type: made.type, response });
  }

  // A page may be replaced by a newer one, so that the listener is the document's.
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    const work = { sign, register }[form.dataset.passkey];
    if (!work) return;
    event.preventDefault();
    const problem = obstacle(form);
    say(form, problem);
    if (problem) return;
    const button = form.querySelector("button[type=submit]");
    button.disabled = true;
    try {
      await work(form);
      form.submit();
    } catch (error) {
      const cancelled = error.name === "NotAllowedError";
      say(form, cancelled ? "Nothing was signed: the request was cancelled or ran out of time." : "Nothing was signed: " + error.message);
      button.disabled = false;
    }
  });
})();
