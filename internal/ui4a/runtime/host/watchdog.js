// Asks the frame every second whether it is alive. Time counts only while the page is
// looked at and its own timer runs: a hidden tab and a sleeping machine are no fault of a card.
const every = 1000;
const patience = 3000;
const loading = 15000; // until the first answer

export class Watchdog {
  constructor(ping, dead) {
    this.ping = ping;
    this.dead = dead;
    this.n = 0;
    this.limit = loading;
    this.heard = this.ticked = performance.now();
    this.timer = setInterval(() => this.tick(), every);
    this.ping(0);
  }

  tick() {
    const now = performance.now();
    if (document.hidden || now - this.ticked > 2 * every) this.heard = now;
    this.ticked = now;
    if (now - this.heard > this.limit) this.dead();
    else this.ping(++this.n);
  }

  answered(n) {
    if (n > this.n || !(n >= 0)) return; // an answer to what was not asked
    this.heard = performance.now();
    this.limit = patience;
  }

  end() {
    clearInterval(this.timer);
  }
}
