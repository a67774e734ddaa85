// Notices by Web Push: a service worker of the console shows them, and opens the question on a tap.
import { fromBase64URL, toBase64 } from "/assets/passkey.js";

// subscription is what this browser was given for notices; undefined when it gets none.
export async function subscription() {
  return (await (await navigator.serviceWorker?.getRegistration("/"))?.pushManager.getSubscription()) ?? undefined;
}

// subscribe asks the person, and then the browser's push service.
export async function subscribe({ push, denied }, worker) {
  if (await Notification.requestPermission() !== "granted") {
    throw new Error(denied);
  }
  const registration = await navigator.serviceWorker.register(worker, { scope: "/" });
  await navigator.serviceWorker.ready;
  await (await registration.pushManager.getSubscription())?.unsubscribe(); // it may be for another key
  const made = await registration.pushManager.subscribe({
    userVisibleOnly: true, applicationServerKey: fromBase64URL(push),
  });
  return { endpoint: made.endpoint, key: toBase64(made.getKey("p256dh")), secret: toBase64(made.getKey("auth")) };
}
