// The token of the link is in the fragment, which browsers never send: it is removed from the
// address at once and sent by POST.
const said = document.getElementById("said");

async function signIn() {
  const token = location.hash.slice(1);
  if (!token) {
    return;
  }
  history.replaceState(null, "", "/");
  const answer = await fetch("/sign-in", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token }),
  });
  if (answer.ok) {
    location.replace("/");
    return;
  }
  said.textContent = (await answer.json()).error;
}

signIn();
addEventListener("hashchange", signIn);
