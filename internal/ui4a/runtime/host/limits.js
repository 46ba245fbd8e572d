// A bucket of tokens: perSecond on average, burst at once.
export class Bucket {
  constructor(perSecond, burst) {
    this.perSecond = perSecond;
    this.burst = this.left = burst;
    this.filled = performance.now();
  }

  spend() {
    const now = performance.now();
    this.left = Math.min(this.burst, this.left + ((now - this.filled) / 1000) * this.perSecond);
    this.filled = now;
    if (this.left < 1) return false;
    this.left -= 1;
    return true;
  }
}
