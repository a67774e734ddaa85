// Shows the notices that come by Web Push, and opens the question of one that is tapped. A notice answers
// nothing by itself. Nothing is cached: a page that is out of date must not be answered.
addEventListener("push", (event) => event.waitUntil(show(event.data)));

async function show(data) {
  let said = {};
  try {
    said = data.json();
  } catch {
    // the browser wants a notice all the same
  }
  await registration.showNotification(String(said.title ?? "umpire"), {
    body: String(said.text ?? ""), tag: String(said.tag ?? ""), silent: said.quiet === true,
    icon: "/assets/icon.png", data: { card: said.card, session: said.session },
  });
}

addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data));
});

// open leads to a question, by its ids: the address is always one of the console.
async function open({ card, session }) {
  const address = card ? "/?" + new URLSearchParams({ card, session }) : "/";
  const [page] = await clients.matchAll({ type: "window" });
  if (page) {
    await page.navigate(address);
    return page.focus();
  }
  return clients.openWindow(address);
}
