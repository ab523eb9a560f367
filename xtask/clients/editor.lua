-- What editor.sh has Neovim do: it begins in a copy of examples/duplicated.
local function must(holds, what)
  if not holds then
    print('not so: ' .. what)
    vim.cmd('cquit')
  end
  print(what)
end
local root = vim.fn.getcwd()
local id = vim.lsp.start_client({
  name = 'coalesce', cmd = { os.getenv('PROGRAM'), 'lsp' }, root_dir = root,
  workspace_folders = { { uri = vim.uri_from_fname(root), name = 'tree' } },
})
vim.o.autoread = true
vim.cmd('edit lidar/features.py')
vim.lsp.buf_attach_client(0, id)
local client = vim.lsp.get_client_by_id(id)
local function ask(method, parameters)
  local answer = client.request_sync(method, parameters, 60000, 0)
  must(answer and not answer.err, method .. ' is answered')
  return answer.result
end
vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end)
local codes = {}
for _, one in ipairs(vim.diagnostic.get(0)) do codes[one.code] = one.lnum + 1 end
must(codes['stale-guarded-import'] == 6, 'diagnostics of check stand on their lines')
local found = ask('textDocument/references', {
  textDocument = { uri = vim.uri_from_bufnr(0) }, position = { line = 1, character = 30 },
  context = { includeDeclaration = false },
})
must(#found == 3, 'references in code and configuration')
local function execute(command, argument)
  return ask('workspace/executeCommand', { command = command, arguments = { argument } })
end
execute('coalesce.move', { from = 'lidar.optimization.gpu_kernels', to = 'lidar.core.gpu_kernels' })
vim.cmd('checktime')
must(vim.fn.filereadable('lidar/core/gpu_kernels.py') == 1, 'the file has moved')
must(vim.fn.getline(2) == 'from lidar.core.gpu_kernels import normals', 'the buffer has the new name')
execute('coalesce.rollback', vim.empty_dict())
vim.cmd('checktime')
must(vim.fn.getline(2) == 'from lidar.optimization.gpu_kernels import normals', 'and the old one again')
print('all as it should be')
vim.cmd('qall!')
