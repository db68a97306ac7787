import { createRoot } from "react-dom/client";
import { connectApi } from "./api/api.ts";
import { App } from "./app.tsx";
import "./app.css";

const root = document.getElementById("root");
if (root) createRoot(root).render(<App api={connectApi()} />);
