// A card is idle, loading, approved, approvedAll or denied. Only an idle card takes an answer, and
// an answer that failed leaves it idle. A card cannot be approved before everything on it that asks
// was on the screen, nor in the first moment: a key may have been meant for the card before.
import { assert } from "/assets/passkey.js";

const settleTime = 400;

export class Card {
  // in finds the card of a document; undefined when there is none.
  static in(where, post, answered) {
    const element = where.querySelector(".card");
    return element ? new Card(element, post, answered) : undefined;
  }

  // answered is called with what there is to say once an answer has settled the card.
  constructor(element, post, answered) {
    this.element = element;
    this.post = post;
    this.answered = answered;
    this.since = performance.now();
    this.seen = false;
    const watcher = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) {
        watcher.disconnect();
        this.seen = true;
        for (const button of element.querySelectorAll("[data-allow], [data-network]")) {
          button.disabled = false;
        }
        element.classList.add("seen");
      }
    }, { rootMargin: "0px 0px -72px 0px" });
    watcher.observe(this.find(".end"));
    element.addEventListener("click", (event) => this.click(event));
    element.addEventListener("submit", (event) => this.submit(event));
    element.addEventListener("change", (event) => {
      const panel = event.target.closest("[data-coded]");
      if (panel && event.target.name === "width") {
        this.sendCode(panel);
      }
    });
  }

  get request() { return this.element.dataset.request; }
  get shown() { return this.element.dataset.shown; }
  get state() { return this.element.dataset.state; }
  get isIdle() { return this.state === "idle"; }
  get address() {
    const { call, session } = this.element.dataset;
    return "/?" + new URLSearchParams({ call, card: this.request, session });
  }

  find(selector) { return this.element.querySelector(selector); }

  // takes reports whether an answer counts now.
  takes() { return this.isIdle && performance.now() - this.since > settleTime; }

  click(event) {
    const button = event.target.closest("button");
    if (!button || !this.isIdle) {
      return;
    }
    if ("allow" in button.dataset) {
      event.stopPropagation();
      this.toggleMenu();
    } else if (button.dataset.scope) {
      this.choose(button.dataset.scope);
    } else if ("refuse" in button.dataset) {
      this.openPanel(this.find(".refuse"));
    } else if ("cancel" in button.dataset) {
      this.give({ answer: "cancel", scope: "once" });
    } else if ("again" in button.dataset) {
      this.choose("once");
    } else if ("try" in button.dataset) {
      this.give({ answer: "try", scope: "once" });
    } else if ("back" in button.dataset) {
      this.closeAll();
    } else if ("newCode" in button.dataset) {
      this.sendCode(button.closest("form"));
    }
  }

  // press takes a key, and reports whether it means something here.
  press(key) {
    if (key === "Escape") {
      return this.closeAll();
    }
    if (!this.isIdle) {
      return false;
    }
    const menu = this.find(".menu");
    if (!menu.hidden && (key === "ArrowDown" || key === "ArrowUp")) {
      this.moveInMenu(key === "ArrowDown" ? 1 : -1);
      return true;
    }
    const entry = menu.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (entry) {
      this.choose(entry.dataset.scope);
    } else if (key === "n") {
      this.openPanel(this.find(".refuse"));
    } else if (key === "t" && this.find("[data-try]:enabled")) {
      this.find("[data-try]").click();
    } else if (key === "c") {
      this.give({ answer: "cancel", scope: "once" });
    } else {
      return false;
    }
    return true;
  }

  toggleMenu() {
    const menu = this.find(".menu");
    const opens = menu.hidden;
    this.closeAll();
    if (opens) {
      menu.hidden = false;
      this.find("[data-allow]").setAttribute("aria-expanded", "true");
      menu.querySelector("button").focus();
    }
  }

  moveInMenu(step) {
    const entries = [...this.find(".menu").querySelectorAll("button")];
    const at = entries.indexOf(document.activeElement);
    entries[(at + step + entries.length) % entries.length].focus();
  }

  closeMenuOutside(target) {
    if (!this.find(".menu").hidden && !target.closest(".menu, [data-allow]")) {
      this.closeAll();
    }
  }

  // closeAll closes the menu and the panels, and reports whether anything was open.
  closeAll() {
    let closed = false;
    for (const part of this.element.querySelectorAll(".menu, .panel")) {
      closed ||= !part.hidden;
      part.hidden = true;
    }
    this.find("[data-allow]").setAttribute("aria-expanded", "false");
    this.find(".bar").hidden = false;
    this.complain("");
    return closed;
  }

  openPanel(panel) {
    this.closeAll();
    this.find(".bar").hidden = true;
    panel.hidden = false;
    panel.querySelector("input:checked, input").focus();
  }

  // choose takes an entry of the menu. One that lasts, or needs a code, opens what is below it.
  choose(scope) {
    if (!this.seen) {
      this.find(".end").scrollIntoView({ block: "center" });
      return;
    }
    const panel = this.find(`[data-panel-of="${scope}"]`);
    if (!panel) {
      this.closeAll();
      this.give({ answer: "approve", scope });
      return;
    }
    this.openPanel(panel);
    if ("coded" in panel.dataset) {
      this.sendCode(panel);
    }
  }

  submit(event) {
    event.preventDefault();
    const form = event.target;
    if (form.classList.contains("refuse")) {
      this.give({ answer: "deny", scope: "once", reason: form.elements.reason.value.trim() });
    } else if (form.dataset.panelOf) {
      this.give({ ...this.chosenIn(form), code: form.elements.code?.value.trim() ?? "" });
    }
  }

  chosenIn(form) {
    return { answer: "approve", scope: form.dataset.panelOf, width: form.elements.width.value };
  }

  // bound is an answer to what this card shows.
  bound(answer) {
    const { request, session, version, args, shown } = this.element.dataset;
    return {
      ...answer, request_id: request, session_id: session, version: Number(version), args_hash: args,
      shown_digest: shown,
    };
  }

  async sendCode(form) {
    form.elements.code.value = "";
    this.complain("");
    const { ok, said } = await this.post("/code", this.bound(this.chosenIn(form)));
    if (!ok) {
      this.complain(said.error);
    } else if (!form.hidden) {
      form.elements.code.focus();
    }
  }

  // give hands an answer in.
  async give(answer) {
    if (!this.takes() || answer.answer === "approve" && !this.seen) {
      return;
    }
    this.enter("loading");
    this.complain("");
    let result;
    try {
      result = await this.send(this.bound(answer));
    } catch {
      result = { ok: false, said: { error: document.getElementById("lost").textContent } };
    }
    if (result.ok) {
      this.enter(result.said.state);
      this.finish(result.said.text);
      if (!this.isIdle) {
        this.answered(result.said.text);
      }
    } else if (result.said.standing) {
      this.settle(result.said.standing, true);
    } else {
      this.enter("idle");
      this.complain(result.said.error);
    }
  }

  // send posts an answer. An approval on another machine than the gate's needs a passkey.
  async send(answer) {
    if (answer.answer !== "approve" || !("passkey" in this.element.dataset)) {
      return this.post("/answer", answer);
    }
    const { ok, said } = await this.post("/challenge", answer);
    if (!ok) {
      return { ok, said };
    }
    try {
      return this.post("/answer", { ...answer, assertion: await assert(said) });
    } catch (problem) {
      return { ok: false, said: { error: problem.message } };
    }
  }

  // settle says that the card was answered elsewhere.
  settle(text, mine) {
    if (this.isIdle || mine) {
      this.enter("settled");
      this.finish(text);
    }
  }

  enter(state) {
    this.element.dataset.state = state;
    this.find(".controls").inert = state !== "idle";
  }

  finish(text) {
    const outcome = this.find(".outcome");
    outcome.textContent = text ?? "";
    outcome.hidden = false;
    if (this.isIdle) {
      this.closeAll();
      return;
    }
    this.find(".controls").hidden = true;
    this.find(".follow").hidden = false;
    outcome.focus({ preventScroll: true });
  }

  complain(text) {
    const problem = this.find(".problem");
    problem.textContent = text;
    problem.hidden = !text;
  }
}
