import type { Provider } from '../core/provider.ts'
import { ai302 } from './302ai.ts'
import { ai21 } from './ai21.ts'
import { aihubmix } from './aihubmix.ts'
import { aionLabs } from './aion-labs.ts'
import { akashml } from './akashml.ts'
import { alibaba } from './alibaba.ts'
import { alibabaCn } from './alibaba-cn.ts'
import { amazonBedrock } from './amazon-bedrock.ts'
import { amazonBedrockMantle } from './amazon-bedrock-mantle.ts'
import { ambient } from './ambient.ts'
import { anthropic } from './anthropic.ts'
import { arcee } from './arcee.ts'
import { atlasCloud } from './atlas-cloud.ts'
import { avian } from './avian.ts'
import { azure } from './azure.ts'
import { baidu } from './baidu.ts'
import { baseten } from './baseten.ts'
import { berget } from './berget.ts'
import { byteplus } from './byteplus.ts'
import { cerebras } from './cerebras.ts'
import { chutes } from './chutes.ts'
import { clarifai } from './clarifai.ts'
import { cloudflare } from './cloudflare.ts'
import { cohere } from './cohere.ts'
import { cortecs } from './cortecs.ts'
import { crusoe } from './crusoe.ts'
import { databricks } from './databricks.ts'
import { deepinfra } from './deepinfra.ts'
import { deepseek } from './deepseek.ts'
import { demo } from './demo/index.ts'
import { digitalocean } from './digitalocean.ts'
import { dockerModelRunner } from './docker-model-runner.ts'
import { doubleword } from './doubleword.ts'
import { evroc } from './evroc.ts'
import { featherless } from './featherless.ts'
import { fireworks } from './fireworks.ts'
import { friendli } from './friendli.ts'
import { githubModels } from './github-models.ts'
import { gmicloud } from './gmicloud.ts'
import { googleAiStudio } from './google-ai-studio.ts'
import { googleVertex } from './google-vertex.ts'
import { gpustack } from './gpustack.ts'
import { groq } from './groq.ts'
import { heroku } from './heroku.ts'
import { huggingface } from './huggingface.ts'
import { hyperbolic } from './hyperbolic.ts'
import { inception } from './inception.ts'
import { inceptron } from './inceptron.ts'
import { inferenceNet } from './inference-net.ts'
import { infermatic } from './infermatic.ts'
import { ioNet } from './io-net.ts'
import { jan } from './jan.ts'
import { koboldcpp } from './koboldcpp.ts'
import { litellm } from './litellm.ts'
import { llamacpp } from './llamacpp.ts'
import { llamafile } from './llamafile.ts'
import { lmstudio } from './lmstudio.ts'
import { localai } from './localai.ts'
import { mancer } from './mancer.ts'
import { metaLlama } from './meta-llama.ts'
import { minimax } from './minimax.ts'
import { minimaxCn } from './minimax-cn.ts'
import { mistral } from './mistral.ts'
import { modelscope } from './modelscope.ts'
import { moonshotai } from './moonshotai.ts'
import { moonshotaiCn } from './moonshotai-cn.ts'
import { morph } from './morph.ts'
import { nanoGpt } from './nano-gpt.ts'
import { nearai } from './nearai.ts'
import { nebius } from './nebius.ts'
import { novita } from './novita.ts'
import { nscale } from './nscale.ts'
import { nvidia } from './nvidia.ts'
import { ollama } from './ollama.ts'
import { ollamaCloud } from './ollama-cloud.ts'
import { openai } from './openai.ts'
import { openrouter } from './openrouter.ts'
import { ovhcloud } from './ovhcloud.ts'
import { parasail } from './parasail.ts'
import { perplexity } from './perplexity.ts'
import { phala } from './phala.ts'
import { poe } from './poe.ts'
import { poolside } from './poolside.ts'
import { publicai } from './publicai.ts'
import { reka } from './reka.ts'
import { relace } from './relace.ts'
import { requesty } from './requesty.ts'
import { sakana } from './sakana.ts'
import { sambanova } from './sambanova.ts'
import { scaleway } from './scaleway.ts'
import { sglang } from './sglang.ts'
import { siliconflow } from './siliconflow.ts'
import { siliconflowCn } from './siliconflow-cn.ts'
import { snowflakeCortex } from './snowflake-cortex.ts'
import { stackit } from './stackit.ts'
import { stepfun } from './stepfun.ts'
import { synthetic } from './synthetic.ts'
import { targon } from './targon.ts'
import { tencent } from './tencent.ts'
import { tencentTokenhub } from './tencent-tokenhub.ts'
import { tinfoil } from './tinfoil.ts'
import { together } from './together.ts'
import { upstage } from './upstage.ts'
import { venice } from './venice.ts'
import { vercel } from './vercel.ts'
import { vllm } from './vllm.ts'
import { volcengine } from './volcengine.ts'
import { voyage } from './voyage.ts'
import { vultr } from './vultr.ts'
import { wafer } from './wafer.ts'
import { wandb } from './wandb.ts'
import { xai } from './xai.ts'
import { xiaomi } from './xiaomi.ts'
import { xinference } from './xinference.ts'
import { zai } from './zai.ts'
import { zenmux } from './zenmux.ts'
import { zhipuai } from './zhipuai.ts'

/** Every vendor that the gateway knows. Most are only data for a dialect; a vendor that is missing here can be declared in the configuration. */
export const PROVIDERS: readonly Provider[] = [
  ai302,
  ai21,
  aihubmix,
  aionLabs,
  akashml,
  alibaba,
  alibabaCn,
  amazonBedrock,
  amazonBedrockMantle,
  ambient,
  anthropic,
  arcee,
  atlasCloud,
  avian,
  azure,
  baidu,
  baseten,
  berget,
  byteplus,
  cerebras,
  chutes,
  clarifai,
  cloudflare,
  cohere,
  cortecs,
  crusoe,
  databricks,
  deepinfra,
  deepseek,
  demo,
  digitalocean,
  dockerModelRunner,
  doubleword,
  evroc,
  featherless,
  fireworks,
  friendli,
  githubModels,
  gmicloud,
  googleAiStudio,
  googleVertex,
  gpustack,
  groq,
  heroku,
  huggingface,
  hyperbolic,
  inception,
  inceptron,
  inferenceNet,
  infermatic,
  ioNet,
  jan,
  koboldcpp,
  litellm,
  llamacpp,
  llamafile,
  lmstudio,
  localai,
  mancer,
  metaLlama,
  minimax,
  minimaxCn,
  mistral,
  modelscope,
  moonshotai,
  moonshotaiCn,
  morph,
  nanoGpt,
  nearai,
  nebius,
  novita,
  nscale,
  nvidia,
  ollama,
  ollamaCloud,
  openai,
  openrouter,
  ovhcloud,
  parasail,
  perplexity,
  phala,
  poe,
  poolside,
  publicai,
  reka,
  relace,
  requesty,
  sakana,
  sambanova,
  scaleway,
  sglang,
  siliconflow,
  siliconflowCn,
  snowflakeCortex,
  stackit,
  stepfun,
  synthetic,
  targon,
  tencent,
  tencentTokenhub,
  tinfoil,
  together,
  upstage,
  venice,
  vercel,
  vllm,
  volcengine,
  voyage,
  vultr,
  wafer,
  wandb,
  xai,
  xiaomi,
  xinference,
  zai,
  zenmux,
  zhipuai,
]
