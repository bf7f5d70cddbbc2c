// Dropping and sending files with their progress, following a task, and the preview of a rule. Every page works without this script.
'use strict';

const upload = document.querySelector('#upload');
if (upload) {
  const input = upload.querySelector('input[type=file]');
  const shown = document.querySelector('#upload-progress');
  const bar = shown.querySelector('progress');
  const status = shown.querySelector('[role=status]');
  const megabytes = bytes => (bytes / 1e6).toFixed(1) + ' MB';
  const send = file => {
    const request = new XMLHttpRequest();
    request.open('PUT', '/upload?name=' + encodeURIComponent(file.name));
    request.responseType = 'json';
    request.upload.addEventListener('progress', event => {
      bar.value = 100 * event.loaded / Math.max(event.total, 1);
      status.textContent = file.name + ': ' + megabytes(event.loaded) + ' of ' + megabytes(event.total);
    });
    request.addEventListener('load', () => {
      if (request.status === 200 && request.response) location.assign(request.response.next);
      else status.textContent = 'The file was not accepted. Load this page again.';
    });
    request.addEventListener('error', () => {
      status.textContent = 'The file did not arrive. Is the desk still running in the terminal?';
    });
    shown.hidden = false;
    status.textContent = file.name + ': sending';
    request.send(file);
  };
  upload.addEventListener('submit', event => {
    event.preventDefault();
    if (input.files.length > 0) send(input.files[0]);
  });
  const stop = event => event.preventDefault();
  // A file that is dropped beside the field must not replace the page.
  document.addEventListener('dragover', stop);
  document.addEventListener('drop', stop);
  upload.addEventListener('dragenter', () => upload.classList.add('over'));
  upload.addEventListener('dragleave', event => {
    if (!upload.contains(event.relatedTarget)) upload.classList.remove('over');
  });
  upload.addEventListener('drop', event => {
    upload.classList.remove('over');
    if (event.dataTransfer.files.length > 0) send(event.dataTransfer.files[0]);
  });
}

const progress = document.querySelector('#work progress');
if (progress) {
  const phase = document.querySelector('#phase');
  const follow = async () => {
    try {
      const state = await (await fetch('/work.json')).json();
      if (state.next !== undefined) return location.replace(state.next);
      if (phase.textContent !== state.phase + ' …') phase.textContent = state.phase + ' …';
      if (state.total > 0) {
        progress.max = state.total;
        progress.value = state.done;
      } else {
        progress.removeAttribute('value');
      }
    } catch {
      phase.textContent = 'The desk does not answer. Is it still running in the terminal?';
    }
    setTimeout(follow, 250);
  };
  follow();
}

const rule = document.querySelector('form#rule');
if (rule) {
  const preview = document.querySelector('#preview');
  let waiting;
  let newest = 0;
  const show = async () => {
    const mine = ++newest;
    const answer = await fetch('/preview', { method: 'POST', body: new URLSearchParams(new FormData(rule)) });
    const text = await answer.text();
    if (mine === newest && answer.ok) preview.innerHTML = text;
  };
  rule.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => show().catch(() => {}), 150);
  });
}
