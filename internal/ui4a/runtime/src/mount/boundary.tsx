import { Component, type ReactNode } from "react";

interface Props {
  children: ReactNode;
  onError: (error: unknown) => void;
}

/** Keeps a card that throws from taking the rest with it; what stands instead is up to onError. */
export class Boundary extends Component<Props, { failed: boolean }> {
  state = { failed: false };
  static getDerivedStateFromError() {
    return { failed: true };
  }
  componentDidCatch(error: unknown) {
    this.props.onError(error);
  }
  render() {
    return this.state.failed ? null : this.props.children;
  }
}
