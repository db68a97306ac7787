import { Component, type ReactNode } from "react";
import { toErrorView } from "../api/api-error.ts";
import { ErrorPanel } from "./states.tsx";

/** A fault in one part of the screen shows there and leaves the rest alone. */
export class ErrorBoundary extends Component<{ readonly children: ReactNode }, { readonly error: unknown }> {
  override state: { readonly error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown): { readonly error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === null) return this.props.children;
    return (
      <div className="flex-1 p-3">
        <ErrorPanel
          error={{ ...toErrorView(this.state.error), untouched: "The store is unchanged." }}
          onRetry={() => this.setState({ error: null })}
          retryLabel="Show again"
        />
      </div>
    );
  }
}
